package lab

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// lease waits for as many hosts as a test wants, of one of the labs, and gives them back at its
// end.
//
// Who waits holds the queue's lock, so that tests get hosts in the order in which they came, and
// nobody waits for hosts while another collects them. A host is marked while it is used alone: a
// mark that is found tells that a process ended before it could tidy up.
func lease(t testing.TB, labs []report, o Options) (of report, leased []*Host) {
	t.Helper()
	want, most := max(1, o.Hosts), 0
	for _, r := range labs {
		most = max(most, len(r.Hosts))
		if err := os.MkdirAll(r.file("leases"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if want > most {
		t.Fatalf("the test wants %d hosts and the lab has %d: "+
			"scripts/lab up NAME --hosts %d brings up more", want, most, want)
	}
	var queue *os.File
	await(t, "its turn", func() bool {
		queue = lock(t, filepath.Join(labs[0].file("leases"), "queue"), false)
		return queue != nil
	})
	defer queue.Close()
	// for each lab: the locks of its hosts, by their numbers in it
	got := make([]map[int]*os.File, len(labs))
	chosen := -1
	await(t, "hosts that other tests have", func() bool {
		for i, r := range labs {
			if got[i] == nil {
				got[i] = map[int]*os.File{}
			}
			r.collect(t, got[i], want, o.Shared)
			if len(got[i]) == want {
				chosen = i
				return true
			}
		}
		return false
	})
	of = labs[chosen]
	for i, others := range got {
		for _, file := range others {
			if i != chosen {
				file.Close()
			}
		}
	}
	for n, here := range of.Hosts {
		if file := got[chosen][n]; file != nil {
			h := &Host{Name: here.Name, Address: here.Address, container: here.Container,
				network: of.Network, shared: o.Shared}
			h.keep(t, file, filepath.Join(of.file("leases"), h.Name+".used"))
			leased = append(leased, h)
		}
	}
	return of, leased
}

// collect locks those of a lab's hosts that are free, until there are as many as are wanted.
func (r report) collect(t testing.TB, got map[int]*os.File, want int, shared bool) {
	t.Helper()
	for n := range r.Hosts {
		if !shared { // from the other end than those who share
			n = len(r.Hosts) - 1 - n
		}
		if len(got) < want && got[n] == nil {
			name := filepath.Join(r.file("leases"), r.Hosts[n].Name)
			if file := lock(t, name, shared); file != nil {
				got[n] = file
			}
		}
	}
}

// keep has a host given back at the end of the test, and tidied up before and after it where that
// has to be.
func (h *Host) keep(t testing.TB, locked *os.File, mark string) {
	t.Helper()
	t.Cleanup(func() { locked.Close() })
	if _, err := os.Stat(mark); err == nil {
		h.tidy(t, mark)
	}
	if h.shared {
		return
	}
	if err := os.WriteFile(mark, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.tidy(t, mark) })
}

func (h *Host) tidy(t testing.TB, mark string) {
	t.Helper()
	if err := errors.Join(h.restore(), h.exec(nil, "lab-host", "reset")); err != nil {
		t.Fatalf("tidy up %s: %v", h.Name, err)
	}
	if err := os.Remove(mark); err != nil {
		t.Fatal(err)
	}
}

// await tries until it succeeds.
func await(t testing.TB, what string, try func() bool) {
	t.Helper()
	end := time.NewTimer(2 * patience)
	defer end.Stop()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for !try() {
		select {
		case <-end.C:
			t.Fatalf("waited %s in vain for %s", 2*patience, what)
		case <-tick.C:
		}
	}
}

// lock locks a file (flock(2)) until it is closed, at the latest by the end of the process. It
// gives nil while somebody else has the lock.
func lock(t testing.TB, name string, shared bool) *os.File {
	t.Helper()
	file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	how := syscall.LOCK_EX
	if shared {
		how = syscall.LOCK_SH
	}
	err = syscall.Flock(int(file.Fd()), how|syscall.LOCK_NB)
	if err == nil {
		return file
	}
	file.Close()
	if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
		t.Fatalf("lock %s: %v", name, err)
	}
	return nil
}
