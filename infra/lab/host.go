package lab

import (
	"net"
	"strconv"
	"strings"
	"testing"
)

// Host is a machine of the lab. Its methods may be called concurrently. Those that change it are an
// error where it is shared.
type Host struct {
	Name    string // host1; the other hosts know it by this name
	Address string // its IP address, which stays the same whatever happens to it

	container, network string
	shared             bool
}

// At gives HOST:PORT of a port of the host.
func (h *Host) At(port int) string { return net.JoinHostPort(h.Address, strconv.Itoa(port)) }

// Exec runs a command on the host as root, past sshd, and gives what it printed. It works on a host
// that is cut off, too.
func (h *Host) Exec(t testing.TB, command ...string) string {
	t.Helper()
	out, err := docker(append([]string{"exec", h.container}, command...)...)
	if err != nil {
		t.Fatalf("on %s: %v", h.Name, err)
	}
	return out
}

// exec is Exec with an input and without a test.
func (h *Host) exec(stdin []byte, command ...string) error {
	_, err := run(stdin, "docker", append([]string{"exec", "-i", h.container}, command...)...)
	return err
}

// DropImages removes every image of the host's Docker that no container uses.
func (h *Host) DropImages(t testing.TB) {
	t.Helper()
	h.alone(t)
	h.Exec(t, "docker", "image", "prune", "-af")
}

// alone ends a test that would change what it shares.
func (h *Host) alone(t testing.TB) {
	t.Helper()
	if h.shared {
		t.Fatalf("%s is shared with other tests: this one has to ask for hosts without "+
			"Options.Shared", h.Name)
	}
}

// inspect asks this machine's Docker about the host.
func (h *Host) inspect(format string) (string, error) {
	out, err := docker("inspect", "-f", format, h.container)
	return strings.TrimSpace(out), err
}

// ready waits until sshd and Docker of the host answer.
func (h *Host) ready() error { return h.exec(nil, "lab-host", "ready") }
