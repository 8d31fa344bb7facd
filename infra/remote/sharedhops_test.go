package remote_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"mlframework/infra/remote"
)

// behind writes a configuration in which gpu1 and gpu2 are one host behind the jump hosts a, or a
// and b.
func behind(t *testing.T, h *home, a, b, gpu *sshd) {
	t.Helper()
	config := fmt.Sprintf(`
Match exec "touch %s"
    Port 1
Host a
    HostName 127.0.0.1
    Port %d
Host b
    HostName=%%h.invalid
Host gpu*
    HostName localhost
    Port %d
    IdentityFile %%d/.ssh/%%r
    User %s
Match originalhost b,nobody
    Port %d
Match host gpu1
    ProxyJump a
Match host gpu2
    ProxyJump a,127.0.0.1:%d
Host *
    ProxyJump a
`, h.path("ran"), a.port, gpu.port, me(t), b.port, b.port)
	write(t, h.path(".ssh/config"), config)
	key := h.key(t, "id_ed25519", "")
	mine := h.key(t, me(t), "")
	a.admit(t, key)
	b.admit(t, key)
	gpu.admit(t, mine)
}

func TestJumpHosts(t *testing.T) {
	t.Parallel()
	h, a, b, gpu := newHome(t), startSSHD(t), startSSHD(t), startSSHD(t)
	behind(t, h, a, b, gpu)
	d := remote.New(h.options())
	targets := []remote.Target{{Name: "gpu1"}, {Name: "gpu2"}, {Name: "gpu1"}, {Name: "gpu2"},
		{Name: "a"}}
	hosts, err := d.ConnectAll(t.Context(), targets)
	if err != nil {
		t.Fatal(err)
	}
	for i, via := range []string{"a", fmt.Sprintf("127.0.0.1:%d", b.port), "a",
		fmt.Sprintf("127.0.0.1:%d", b.port), ""} {
		f := hosts[i].Facts()
		if f.Via != via || f.User != me(t) || i < 4 && (f.HostName != "localhost" ||
			f.Port != gpu.port) {
			t.Errorf("%s: %+v", hosts[i].Name(), f)
		}
		var out bytes.Buffer
		if err := hosts[i].Run(t.Context(), remote.Command{Script: "echo $SSH_CONNECTION",
			Stdout: &out}); err != nil {
			t.Error(err)
		}
		port := map[bool]int{true: gpu.port, false: a.port}[i < 4]
		if !strings.HasSuffix(out.String(), fmt.Sprintf(" %d\n", port)) {
			t.Errorf("%s is where %q ends", hosts[i].Name(), &out)
		}
	}
	for _, host := range hosts {
		host.Close()
	}
	for name, c := range map[string]struct {
		s      *sshd
		logins int
	}{"a": {a, 2}, "b": {b, 1}, "gpu": {gpu, 4}} { // a: one as a jump host, one as a host
		eventually(t, name+" has seen all connections end", func() bool {
			said := c.s.said() // a connection ends by a reset where sshd still had to write
			return strings.Count(said, "Closing connection to")+
				strings.Count(said, "Read error from remote host") == c.logins
		})
	}
	if w := strings.Join(h.warn.all(), "\n"); !strings.Contains(w, "config:2: ") ||
		strings.Count(w, "\n") != 0 {
		t.Errorf("warned: %s", w)
	}
	if f := connect(t, h.options(), remote.Target{Name: "gpu1",
		Jump: "none"}).Facts(); f.Via != "" {
		t.Errorf("no jump host: %+v", f)
	}
}

func TestWhatIsWrongWithAJumpHost(t *testing.T) {
	t.Parallel()
	h, a, b, gpu := newHome(t), startSSHD(t, "AllowTcpForwarding no"), startSSHD(t), startSSHD(t)
	behind(t, h, a, b, gpu)
	o := h.options()
	e := refused(t, o, remote.Target{Name: "gpu1"}, remote.Unreachable, "connect to gpu1",
		"jump host", "AllowTcpForwarding")
	if e.Host != "gpu1" {
		t.Errorf("the error is of %s", e.Host)
	}
	if e := refused(t, o, remote.Target{Name: "gpu2"}, remote.Unreachable,
		"connect to gpu2: connect to 127.0.0.1:"); e.Host != "gpu2" {
		t.Errorf("the error is of %s", e.Host)
	}
	write(t, h.path(".ssh/config"), "Host x\nProxyJump y\nHost y\nProxyJump x\nHost p\nPort many\n")
	e = refused(t, o, remote.Target{Name: "gpu1", Jump: fmt.Sprintf("127.0.0.1:%d", closedPort(t))},
		remote.Refused, "connect to gpu1: connect to 127.0.0.1:")
	if e.Host != "gpu1" {
		t.Errorf("the error is of %s", e.Host)
	}
	refused(t, o, remote.Target{Name: "x"}, remote.BadConfig, "circle")
	refused(t, o, remote.Target{Name: "p"}, remote.BadConfig, "port")
	refused(t, o, remote.Target{Name: "@x"}, remote.BadConfig, "user")
	refused(t, o, remote.Target{Name: "x:0"}, remote.BadConfig, "port")
}
