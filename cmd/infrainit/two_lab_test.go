package main_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/infra/lab"
)

// nobody is another person of the machine with the laptops.
const nobody = 65534

// ports are those that containers of a role have on a host.
func ports(t *testing.T, h *lab.Host, role string) string {
	t.Helper()
	return h.Exec(t, "sh", "-c", `docker ps -q --filter label=mlframework.role=`+role+
		` | xargs -r docker inspect -f '{{range .HostConfig.PortBindings}}{{(index . 0).HostPort}}{{end}}' | sort`)
}

// TestTwoClusters is two people on the same hosts, whose homes are one folder for each of them, and
// two releases of RabbitMQ.
func TestTwoClusters(t *testing.T) {
	slow(t)
	p := newLaptop(t, 2)
	ben := p.somebodyElse(nobody)
	l := p.lab
	l.ShareHome(t)
	ben.broker = l.Load(t, "broker:bookworm")[0]
	first := p.up(append(p.images(), "-a", p.hosts("anna"), "-d", "digits", "--name", "c", "-m",
		"1", "-w", "1,2")...)
	if n := strings.Count(first.err, "bring sweepd"); n != 1 {
		t.Errorf("sweepd was brought to one home %d times:\n%s", n, first.err)
	}
	if homes := l.Hosts[0].Exec(t, "sh", "-c",
		"ls /home/anna/mlframework/c/hosts"); homes != l.Hosts[0].Name+"\n"+l.Hosts[1].Name+"\n" {
		t.Errorf("the workers' folders are %q", homes)
	}
	p.up("-f", "-w", "1") // a host leaves whose home is that of one that stays
	p.up("-f", "-w", "1,2")
	before := all(t, l)
	wanted := func(name string) []string {
		return append(ben.images(), "-a", p.hosts("ben"), "-d", "digits", "--name", name, "-m", "1",
			"-w", "1,2")
	}
	ben.fails(1, []string{l.Hosts[0].Name + ": the cluster c there is not in /home/ben/mlframework/c: it belongs to anna",
		l.Hosts[1].Name + ": the cluster c there is not in ", "--name"}, wanted("c")...)
	second := ben.up(wanted("d")...)
	if d := cmp.Diff([]string{"5671\n5672\n", "5555\n5556\n"},
		[]string{ports(t, l.Hosts[0], "broker"), ports(t, l.Hosts[0], "monitor")}); d != "" {
		t.Error(d)
	}
	if !strings.Contains(second.err, "reach the broker at "+l.Hosts[0].Address+":5672") {
		t.Errorf("the workers of the second cluster are told\n%s", second.err)
	}
	client := p.master(l.Hosts[0], "/home/anna/mlframework/c")
	succeeded(t, client, submit(t, client, l.Hosts[0], "/home/anna/mlframework/c", "8", "sleep 1"))
	p.works(l.Hosts[0].Name, l.Hosts[1].Name)
	if r := p.must("/bin/sh", "-ec", "cd digits; run-tasks -q work >&2; check-status >&2; "+
		"infrainit -f"); !strings.Contains(r.out, "nothing to change") {
		t.Errorf("a second cluster changes the first:\n%s", r.err)
	}
	ben.must("./infra-clean", "--volumes", "--files", "--yes")
	if d := cmp.Diff(before, all(t, l)); d != "" {
		t.Errorf("removing the second cluster changes the first:\n%s", d)
	}
	p.must("./infra-clean", "--volumes", "--files", "--yes")
	clean(t, l)
}
