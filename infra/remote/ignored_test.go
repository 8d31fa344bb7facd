package remote_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/infra/remote"
)

// Algorithms that the user chose have no effect, and that is told of the hosts for which they were
// chosen.
func TestAlgorithmsOfTheConfiguration(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	var warned []string
	o := h.options()
	o.Warn = func(host, text string) { warned = append(warned, host+": "+text) }
	write(t, h.path(".ssh/config"), "Host plain\nHostName 127.0.0.1\nPort 1\n\n"+
		"Host chosen\nHostName 127.0.0.1\nPort 1\nCiphers aes256-gcm@openssh.com\nKexAlgorithms "+
		"+x\n")
	d := remote.New(o)
	for _, name := range []string{"plain", "chosen", "chosen"} {
		if c, err := d.Connect(t.Context(), remote.Target{Name: name}); err == nil {
			_ = c.Close()
			t.Errorf("%s was reached", name)
		}
	}
	want := []string{"chosen: KexAlgorithms, Ciphers of your ssh configuration have no effect here"}
	if d := cmp.Diff(want, warned); d != "" {
		t.Error(d)
	}
}
