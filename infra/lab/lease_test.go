package lab_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"mlframework/infra/lab"
)

func TestHostsAreThoseOfTheFirstLabThatHasEnough(t *testing.T) {
	first, second := t.TempDir(), t.TempDir()
	leases := filepath.Join(first, "leases")
	if err := os.Mkdir(leases, 0o700); err != nil {
		t.Fatal(err)
	}
	taken, err := os.Create(filepath.Join(leases, "host2"))
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	if err := syscall.Flock(int(taken.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	for want, in := range map[int]string{2: first, 3: second} {
		if folder, hosts := lab.LeaseOf(t, want, first, second); folder != in || hosts != want {
			t.Errorf("with host2 of %s taken, who wants %d hosts gets %d of %s",
				first, want, hosts, folder)
		}
	}
}
