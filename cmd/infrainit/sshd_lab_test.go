package main_test

import (
	"fmt"
	"strings"
	"testing"

	"mlframework/infra/lab"
)

// TestServers brings clusters up through sshds that allow little, a jump host, ports of their own,
// and sudo.
func TestServers(t *testing.T) {
	slow(t)
	p := newLaptop(t, 2)
	l := p.lab
	narrow := []string{"AllowTcpForwarding no", "AllowStreamLocalForwarding no"}
	p.through(l.Hosts[0], "one", "anna", append(narrow, "MaxSessions 1")...)
	p.through(l.Hosts[1], "two", "anna", narrow...)
	p.through(l.Hosts[0], "three", "anna", append(narrow, "MaxStartups 2")...)
	p.through(l.Hosts[1], "four", "carl", "MaxStartups 2")
	config := fmt.Sprintf("Host four\n\tProxyJump anna@%s\n", l.Hosts[0].Name)
	p.configure(config)
	for _, hosts := range []string{"one,two", "three,four"} {
		t.Run(hosts, func(t *testing.T) {
			r := p.up(append(p.images(), "-a", hosts, "-d", "digits", "--name", "c", "-m", "1",
				"-w", "1,2")...)
			t.Logf("in %.1fs", r.took.Seconds())
			again := p.up("-f")
			t.Logf("again in %.1fs", again.took.Seconds())
			if !strings.Contains(again.out, "nothing to change") {
				t.Errorf("repeated, it changes something:\n%s", again.err)
			}
			p.must("./infra-clean", "--volumes", "--files", "--yes")
			for _, h := range l.Hosts {
				if files := ofRoot(t, h); files != "" {
					t.Errorf("on %s these belong to root:\n%s", h.Name, files)
				}
			}
			clean(t, l)
		})
	}
}

// through gives a host a name under which it is reached through an sshd with lines of its own.
func (p *laptop) through(h *lab.Host, name, user string, lines ...string) {
	p.t.Helper()
	at := h.SSHD(p.t, lines...)
	host, port, _ := strings.Cut(at, ":")
	p.configure(fmt.Sprintf("Host %s\n\tHostName %s\n\tPort %s\n\tUser %s\n\tHostKeyAlias %s\n",
		name, host, port, user, h.Name))
}
