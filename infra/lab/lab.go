// Package lab gives tests several real hosts on one machine: containers with sshd, a Docker and an address of their own each,
// which scripts/lab makes, and all that can happen to them.
//
// Only tests may import it. It imports nothing of this project. docs/lab.md tells what the hosts are.
package lab

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Options of what a test wants. The zero value is one host that nobody else uses meanwhile.
type Options struct {
	// Hosts is how many; 0 is 1. A lab that Start brings up has three.
	Hosts int
	// Shared is for a test that only connects and looks: others may use its hosts at the same time, and it can do nothing to them
	// that these would notice. Without it the hosts come empty, but for images, and are made so again at the test's end.
	Shared bool
}

// Lab is a lab that is up, and the hosts of it that a test has until it ends.
type Lab struct {
	Name       string
	Hosts      []*Host // those of this test
	Key        string  // a file: the private key (ed25519, no passphrase) of anna, ben, carl and root
	Password   string  // of anna, ben and carl
	KnownHosts string  // a file, as OpenSSH writes it: by name and address, as long as no test changes a key
	SSHConfig  string  // a file for ssh -F: the hosts by name
	Network    string  // its name; it leads nowhere else
	Registry   string  // HOST:PORT of a registry without TLS or login, which the hosts may use; "" when the lab has none
}

// Start gives hosts to a test until it ends, and waits for them while other tests, of other packages too, have them. A test
// calls it once, as two that wait for what the other has would wait for ever.
//
// They are hosts of the lab that MLFRAMEWORK_LAB names. Without that variable they are of one that this process brings up with
// its first call, and that goes when the process has ended; where that cannot be, or its images were not made yet, the
// test is skipped with the reason, as with MLFRAMEWORK_LAB=none. It is an error when the lab that is named is not up.
func Start(t testing.TB, o Options) *Lab {
	t.Helper()
	r, err := find()
	if err != nil {
		absent(t, err)
	}
	l := &Lab{
		Name: r.Name, Network: r.Network, Registry: r.Registry,
		Key: r.file("key"), KnownHosts: r.file("known_hosts"), SSHConfig: r.file("ssh_config"),
	}
	password, err := os.ReadFile(r.file("password"))
	if err != nil {
		t.Fatal(err)
	}
	l.Password = string(password)
	hosts := make([]*Host, len(r.Hosts))
	for i, h := range r.Hosts {
		hosts[i] = &Host{Name: h.Name, Address: h.Address, container: h.Container, network: r.Network, shared: o.Shared}
	}
	l.Hosts = lease(t, r.file("leases"), hosts, max(1, o.Hosts))
	return l
}

// report is what scripts/lab status --json prints.
type report struct {
	Name, Folder, Network, Registry string
	Hosts                           []struct{ Name, Container, Address string }
}

func (r report) file(name string) string { return filepath.Join(r.Folder, name) }

// missing says that there is no lab, and that this is no fault.
type missing struct{ why string }

func (m missing) Error() string { return m.why }

func absent(t testing.TB, err error) {
	t.Helper()
	if m, ok := err.(missing); ok {
		t.Skipf("NOT TESTED: this needs the hosts of a lab (docs/lab.md).\n%s", m)
	}
	t.Fatal(err)
}

// find gives the lab of this process.
func find() (r report, err error) {
	name := os.Getenv("MLFRAMEWORK_LAB")
	switch name {
	case "none":
		return r, missing{"MLFRAMEWORK_LAB=none leaves these tests out."}
	case "":
		if name, err = own(); err != nil {
			return r, err
		}
	}
	out, err := script("lab", "status", name, "--json")
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		return r, fmt.Errorf("read what scripts/lab status printed: %w: %s", err, out)
	}
	return r, nil
}

// Image gives the name of an image in this machine's Docker, and makes it when it is missing: one of scripts/image, such as
// "training" or "broker", of trixie or of the release that is named.
func Image(t testing.TB, what string, release ...string) string {
	t.Helper()
	out, err := script("image", append([]string{what}, release...)...)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(out)
}

// Load gives the hosts of this test an image: one that Image knows, or any of this machine's Docker. It gives the image's name.
func (l *Lab) Load(t testing.TB, image string) string {
	t.Helper()
	args := []string{"load", "--lab", l.Name, image}
	for _, h := range l.Hosts {
		args = append(args, h.Name)
	}
	out, err := script("lab", args...)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(out)
}

// ShareHome has the hosts of this test share one folder as /home until it ends, after a power cut too: it stands in for a home on
// NFS. The homes in it begin empty.
func (l *Lab) ShareHome(t testing.TB) {
	t.Helper()
	for _, h := range l.Hosts {
		h.alone(t)
		h.Exec(t, "lab-host", "home", l.Hosts[0].Name)
	}
}
