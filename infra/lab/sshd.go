package lab

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// SSHD starts one more sshd on the host, on a port of its own, and gives its address. It ends with
// the test.
//
// Lines such as "MaxSessions 1" or "AllowTcpForwarding no" (sshd_config(5)) win over the usual
// configuration, which takes keys and passwords. It has the host's own keys.
func (h *Host) SSHD(t testing.TB, lines ...string) (address string) {
	t.Helper()
	return h.sshd(t, "own", lines)
}

// SSHDWithNewKey is SSHD with an ed25519 key that nobody has seen yet, and with no other.
func (h *Host) SSHDWithNewKey(t testing.TB, lines ...string) (address string) {
	t.Helper()
	return h.sshd(t, "new", lines)
}

func (h *Host) sshd(t testing.TB, key string, lines []string) string {
	t.Helper()
	port := 20000 + rand.IntN(12000) // below those that the system gives to clients
	input := strings.Join(append(lines, ""), "\n")
	if err := h.exec([]byte(input), "lab-host", "sshd", strconv.Itoa(port), key); err != nil {
		t.Fatalf("start an sshd on %s: %v", h.Name, err)
	}
	t.Cleanup(func() {
		if err := h.exec(nil, "lab-host", "no-sshd", strconv.Itoa(port)); err != nil && h.shared {
			// a host that is not shared may be off, and is tidied up anyway
			t.Errorf("end an sshd on %s: %v", h.Name, err)
		}
	})
	return h.At(port)
}

// ChangeHostKeys gives the host's usual sshd, port 22, new host keys until the test ends.
func (h *Host) ChangeHostKeys(t testing.TB) {
	t.Helper()
	h.alone(t)
	h.Exec(t, "lab-host", "keys", "new")
}
