package main_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The outputs of a worker that was removed are reached, though its host is not listed any more; and
// tasks that have not finished keep their image, and are asked about before they are stopped.
func TestOutputsOfARemovedWorker(t *testing.T) {
	p := newLaptop(t, 3)
	const root = "/home/anna/ml/c"
	p.up(append(p.images(), "-a", p.hosts("anna"), "-r", "ml", "-d", "digits",
		"--name", "c", "-m", "1", "-w", "2,3")...)
	p.must("run-tasks", "-q", "test_echo")
	p.must("run-tasks", "-q", "test_echo")
	if r := p.must("run-tasks", "rm", "test_echo-2", "--yes"); r.out != "removed test_echo-2\n" ||
		r.err != "" {
		t.Errorf("rm: %s%s", r.out, r.err)
	}
	for _, h := range p.lab.Hosts {
		if left := h.Exec(t, "find", root, "-name", "test_echo-2"); left != "" {
			t.Errorf("%s still has %s", h.Name, left)
		}
	}
	p.up("-f", "-a", "anna@host1,anna@host2", "-w", "2")
	p.status(0, "only has outputs")
	for _, id := range []string{"test_echo-1/0", "test_echo-1/1"} {
		if r := p.must("run-tasks", "logs", id); r.out != "hello\n" {
			t.Errorf("%s printed %q", id, r.out)
		}
	}
	p.must("run-tasks", "fetch", "test_echo-1")
	if all, err := filepath.Glob(p.work + "/outputs/test_echo-1/*/stdout.log"); len(all) != 2 {
		t.Errorf("fetched are %q, %v", all, err)
	}
	client := p.master(p.lab.Hosts[0], root)
	id := submit(t, client, p.lab.Hosts[0], root, "9", "touch begun; sleep 600")
	host2, end := p.lab.Hosts[1], time.Now().Add(patience)
	for host2.Exec(t, "find", root, "-name", "begun") == "" {
		if time.Now().After(end) {
			t.Fatal("no task begins")
		}
	}
	p.fails(1, []string{"9 tasks of " + id + " have not finished, and would run in another image: " +
		p.training + " -> no/such:image", "--force"}, "-f", "--image", "no/such:image")
	r := p.run("./infra-clean")
	if r.code != 1 || !strings.Contains(r.out, " of "+id) ||
		!strings.Contains(r.out, "./infra-clean --yes") {
		t.Errorf("infra-clean ended with %d:\n%s%s", r.code, r.out, r.err)
	}
	p.must("./infra-clean", "--volumes", "--files", "--yes")
	clean(t, p.lab)
}
