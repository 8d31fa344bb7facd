// Package lab gives tests several real hosts on one machine: containers with sshd, a Docker and an
// address of their own each, which scripts/lab makes, and all that can happen to them.
//
// Only tests may import it. It imports nothing of this project. docs/lab.md tells what the hosts
// are.
package lab

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// Options of what a test wants. The zero value is one host that nobody else uses meanwhile.
type Options struct {
	// Hosts is how many; 0 is 1. A lab that Start brings up has three.
	Hosts int
	// Shared is for a test that only connects and looks: others may use its hosts at the same time,
	// and it can do nothing to them that these would notice. Without it the hosts come empty, but
	// for images, and are made so again at the test's end.
	Shared bool
}

// Lab is a lab that is up, and the hosts of it that a test has until it ends.
type Lab struct {
	Name  string
	Hosts []*Host // those of this test
	// a file: the private key (ed25519, no passphrase) of anna, ben, carl and root
	Key      string
	Password string // of anna, ben and carl
	// a file, as OpenSSH writes it: by name and address, as long as no test changes a key
	KnownHosts string
	SSHConfig  string // a file for ssh -F: the hosts by name
	Network    string // its name; it leads nowhere else
	// HOST:PORT of a registry without TLS or login, which the hosts may use; "" when the lab has
	// none
	Registry string
}

// Start gives hosts to a test until it ends, and waits for them while other tests, of other
// packages too, have them. A test calls it once, as two that wait for what the other has would wait
// for ever.
//
// They are hosts of the lab that MLFRAMEWORK_LAB names, or of one of several that it names with
// spaces between them: of the first that has enough of them free. Without that variable they are of
// one that this process brings up with its first call, and that goes when the process has ended;
// where that cannot be, or its images were not made yet, the test is skipped with the reason, as
// with MLFRAMEWORK_LAB=none. It is an error when a lab that is named is not up.
func Start(t testing.TB, o Options) *Lab {
	t.Helper()
	labs, err := find()
	if err != nil {
		absent(t, err)
	}
	r, hosts := lease(t, labs, o)
	l := &Lab{
		Name: r.Name, Network: r.Network, Registry: r.Registry, Hosts: hosts,
		Key: r.file("key"), KnownHosts: r.file("known_hosts"), SSHConfig: r.file("ssh_config"),
	}
	password, err := os.ReadFile(r.file("password"))
	if err != nil {
		t.Fatal(err)
	}
	l.Password = string(password)
	return l
}

// report is what scripts/lab status --json prints.
type report struct {
	Name, Folder, Network, Registry string
	Hosts                           []known
}

// known is a host in it.
type known struct{ Name, Container, Address string }

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

// find gives the labs of this process.
func find() (labs []report, err error) {
	names := strings.Fields(os.Getenv("MLFRAMEWORK_LAB"))
	switch {
	case slices.Equal(names, []string{"none"}):
		return nil, missing{"MLFRAMEWORK_LAB=none leaves these tests out."}
	case len(names) == 0:
		name, err := own()
		if err != nil {
			return nil, err
		}
		names = []string{name}
	}
	for _, name := range names {
		out, err := script("lab", "status", name, "--json")
		if err != nil {
			return nil, err
		}
		var r report
		if err := json.Unmarshal([]byte(out), &r); err != nil {
			return nil, fmt.Errorf("read what scripts/lab status printed: %w: %s", err, out)
		}
		labs = append(labs, r)
	}
	return labs, nil
}

// Image gives the name of an image in this machine's Docker, and makes it when it is missing: one
// of scripts/image, such as "training" or "broker", of trixie or of the release that is named.
func Image(t testing.TB, what string, release ...string) string {
	t.Helper()
	out, err := script("image", append([]string{what}, release...)...)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(out)
}

// Load gives the hosts of this test images: those that Image knows, or any of this machine's
// Docker. It gives the images' names. Images that are loaded together take less time than one after
// the other.
func (l *Lab) Load(t testing.TB, images ...string) []string {
	t.Helper()
	args := []string{"load", "--lab", l.Name, strings.Join(images, ",")}
	for _, h := range l.Hosts {
		args = append(args, h.Name)
	}
	out, err := script("lab", args...)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(out)
}

// Each does something with every host of this test, of which it tells the number, with all of them
// at the same time. The test ends when that has ended it with one of them.
func (l *Lab) Each(t testing.TB, do func(i int, h *Host)) {
	t.Helper()
	var all sync.WaitGroup
	var done atomic.Int64
	for i, h := range l.Hosts {
		all.Go(func() {
			do(i, h)
			done.Add(1)
		})
	}
	all.Wait()
	if done.Load() < int64(len(l.Hosts)) {
		t.FailNow()
	}
}

// Programs builds the commands, with sweepd for hosts beside them, as scripts/install does, and
// gives their folder.
func Programs(t testing.TB) string {
	t.Helper()
	out, err := script("lab", "programs")
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(out)
}

// ShareHome has the hosts of this test share one folder as /home until it ends, after a power cut
// too: it stands in for a home on NFS. The homes in it begin empty.
func (l *Lab) ShareHome(t testing.TB) {
	t.Helper()
	for _, h := range l.Hosts {
		h.alone(t)
		h.Exec(t, "lab-host", "home", l.Hosts[0].Name)
	}
}
