package monitor_test

import (
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"mlframework/sweep/monitor"
)

// Monitors that start for the first time at one moment have the same token, and leave nothing else
// beside it.
func TestFirstStartsAtOneMoment(t *testing.T) {
	t.Parallel()
	for range 20 {
		state, begin := t.TempDir(), make(chan struct{})
		var opened [8]string
		var starts sync.WaitGroup
		for i := range opened {
			starts.Go(func() {
				<-begin
				var err error
				if opened[i], err = monitor.OpenToken(state); err != nil {
					t.Error(err)
				}
			})
		}
		close(begin)
		starts.Wait()
		for _, o := range opened {
			if o != opened[0] {
				t.Fatalf("tokens %q and %q", opened[0], o)
			}
		}
		if files, err := filepath.Glob(filepath.Join(state, ".*")); err != nil || len(files) > 0 {
			t.Errorf("left: %v, %v", files, err)
		}
		info, err := os.Stat(filepath.Join(state, "token"))
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v, %v", info, err)
		}
	}
}

// A token is made in file systems without hard links, too, and one that is there stays.
func TestTokensWithoutHardLinks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		there string // "-": no file
		fails error  // of links
		stays bool
	}{
		"vfat":                     {"-", syscall.EPERM, false},
		"not supported":            {"-", syscall.ENOTSUP, false},
		"not a call of it":         {"-", syscall.ENOSYS, false},
		"an empty file":            {"", syscall.EPERM, false},
		"another was faster":       {"its token", syscall.EPERM, true},
		"an empty file, and links": {"", nil, false},
	} {
		state := t.TempDir()
		path := filepath.Join(state, "token")
		if c.there != "-" {
			if err := os.WriteFile(path, []byte(c.there), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		err := monitor.MakeToken(path, func(from, to string) error {
			if c.fails != nil {
				return &os.LinkError{Op: "link", Old: from, New: to, Err: c.fails}
			}
			return os.Link(from, to)
		})
		text, _ := os.ReadFile(path)
		if err != nil || c.stays != (string(text) == c.there) || !c.stays && len(text) != 27 {
			t.Errorf("%s: %q, %v", name, text, err)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
		if files, _ := filepath.Glob(filepath.Join(state, "*")); len(files) != 1 {
			t.Errorf("%s: left: %v", name, files)
		}
	}
}
