package lab_test

import (
	"strings"
	"testing"

	"mlframework/infra/lab"
)

func TestSSHDsAreConfigured(t *testing.T) {
	t.Parallel()
	l := lab.Start(t, lab.Options{Shared: true})
	h := l.Hosts[0]
	for _, tt := range []struct {
		name  string
		start func(testing.TB, ...string) string
		lines []string
		works bool
		says  string
	}{
		{"as usual on another port", h.SSHD, nil, true, "anna"},
		{"only a password", h.SSHD, []string{"PubkeyAuthentication no"}, false,
			"Permission denied (password"},
		{"only a person", h.SSHD, []string{"AllowUsers ben"}, false, "Permission denied"},
		{"another key", h.SSHDWithNewKey, nil, false, "HOST IDENTIFICATION HAS CHANGED"},
	} {
		address := tt.start(t, tt.lines...)
		got, err := ssh(t, l, "anna", address, "-o", "HostKeyAlias="+h.Name, "id", "-un")
		if (err == nil) != tt.works || !strings.Contains(got, tt.says) {
			t.Errorf("%s: %v, %s", tt.name, err, got)
		}
	}
}

func TestHostKeysChange(t *testing.T) {
	t.Parallel()
	l := lab.Start(t, lab.Options{})
	h := l.Hosts[0]
	h.ChangeHostKeys(t)
	if got, err := ssh(t, l, "anna", h.Name, "true"); err == nil || !strings.Contains(got,
		"HOST IDENTIFICATION HAS CHANGED") {
		t.Errorf("ssh to a host whose key changed: %v, %s", err, got)
	}
}
