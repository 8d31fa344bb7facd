package remote_test

import (
	"fmt"
	"os/exec"
	"testing"

	"mlframework/infra/remote"
)

// A host that ssh reaches by a command is reached by that.
func TestProxyCommands(t *testing.T) {
	t.Parallel()
	socat, err := exec.LookPath("socat")
	if err != nil {
		t.Skip("NOT TESTED: this needs socat")
	}
	s, h := startSSHD(t), newHome(t)
	s.admit(t, h.key(t, "id_ed25519", ""))
	write(t, h.path(".ssh/config"), fmt.Sprintf(`Host cloud jumping
HostName 127.0.0.1
Port %d
Host cloud
ProxyCommand %s - TCP4:%%h:%%p
Host jumping
ProxyJump none
ProxyCommand false
Host broken
ProxyCommand sh -c 'echo no credentials of %%r for %%n >&2; exit 3'
Host silent
ProxyCommand true
`, s.port, socat))
	o := h.options()
	for _, name := range []string{"cloud", "jumping"} {
		host := connect(t, o, remote.Target{Name: name})
		err := host.Run(t.Context(), remote.Command{Argv: []string{"true"}})
		if at := fmt.Sprintf("127.0.0.1:%d", s.port); err != nil || host.Facts().Address != at {
			t.Errorf("%s: %v, %+v", name, err, host.Facts())
		}
	}
	refused(t, o, remote.Target{Name: "anna@broken"}, remote.Unreachable,
		"its ProxyCommand ended: ", "no credentials of anna for broken", "ssh broken")
	refused(t, o, remote.Target{Name: "silent"}, remote.Reset)
	write(t, h.path(".ssh/config"), "Host *\nProxyCommand touch owned %h\n")
	for _, name := range []string{"gpu1;id", "$(id)", "-x", "a@b|id"} {
		refused(t, o, remote.Target{Name: name}, remote.BadConfig)
	}
}
