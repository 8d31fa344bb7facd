package main_test

import (
	"crypto/tls"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/infra/lab"
	"mlframework/sweep/task"
)

// serial is the number of the certificate that the broker on a host has.
func serial(t *testing.T, h *lab.Host) string {
	t.Helper()
	// it is only looked at
	conn, err := tls.Dial("tcp", h.Address+":5671", &tls.Config{InsecureSkipVerify: true})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	return conn.ConnectionState().PeerCertificates[0].SerialNumber.String()
}

// monitors are the lines of monitors among those of containers.
var monitors = regexp.MustCompile(`(?m)^.*-monitor .*\n`)

// untilGo is a script of which the first tasks of a sweep are short, so that some begin and end
// meanwhile, and the others run until there is a file named go beside their folders: the sweep
// lasts as long as it has to, and no longer.
const untilGo = `test "$TASK_INDEX" -ge 40 || exec sleep 0.2
	until test -e ../go; do sleep 0.1; done`

// rotates makes all secrets of a cluster anew while a sweep runs: whoever has copied the old ones
// is out, and no task notices. The master is on the first host, and a worker on the second.
func (p *laptop) rotates(t *testing.T, root string) {
	t.Helper()
	master, worker := p.lab.Hosts[0], p.lab.Hosts[1]
	const copied = "/root/copied"
	login := path.Join(root, "hosts", worker.Name, "secrets")
	worker.Exec(t, "cp", "-rT", login, copied)
	if said := logsIn(t, worker, root, copied, master.Address); said != "the broker answers\n" {
		t.Fatalf("before: %s", said)
	}
	secrets, number, before := secretsOf(t, master, root), serial(t, master), all(t, p.lab)
	client := p.master(master, root)
	id := submit(t, client, master, root, "56", untilGo)
	eventually(t, "tasks run", func() bool {
		return counts(t, client, id)[task.Running.String()] > 0
	})
	r := p.up("-f", "--rotate")
	t.Logf("rotated in %.1fs:\n%s", r.took.Seconds(), r.err)
	t.Logf("the sweep is at %v", counts(t, client, id))
	if said := logsIn(t, worker, root, copied, master.Address); !strings.Contains(said,
		"certificate is not trusted") {
		t.Errorf("who trusts the old authority: %s", said)
	}
	worker.Exec(t, "cp", path.Join(login, "ca.pem"), copied)
	if said := logsIn(t, worker, root, copied, master.Address); !strings.Contains(said,
		"does not accept user and password") {
		t.Errorf("who has the old password: %s", said)
	}
	worker.Exec(t, "rm", "-r", copied)
	if now := serial(t, master); now == number {
		t.Errorf("the broker still has the certificate %s", now)
	}
	for name, now := range secretsOf(t, master, root) {
		if was := secrets[name]; was == now && name != "/cookie" {
			t.Errorf("%s is as it was", name)
		}
	}
	after := all(t, p.lab)
	for _, some := range []map[string]string{before, after} {
		some[master.Name] = monitors.ReplaceAllString(some[master.Name], "") // it is restarted
	}
	if d := cmp.Diff(before, after); d != "" {
		t.Errorf("containers were replaced (-before +after):\n%s", d)
	}
	for _, h := range p.lab.Hosts[1:] {
		outputs := path.Join(root, "hosts", h.Name, "outputs", id)
		h.Exec(t, "su", "anna", "-c", "touch "+outputs+"/go")
	}
	succeeded(t, client, id)
	p.status(0, "all is well")
	if r := p.up("-f"); !strings.Contains(r.out, "nothing to change") {
		t.Errorf("then there is still something to do:\n%s", r.err)
	}
}
