package rootfile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"mlframework/internal/rootfile"
)

func TestOpen(t *testing.T) {
	t.Parallel()
	const create = os.O_WRONLY | os.O_CREATE
	for name, c := range map[string]struct {
		make func(dir string) error
		flag int
		want error
	}{
		"a file": {func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "f"), nil, 0o600)
		}, os.O_RDONLY, nil},
		"a file to be appended to": {func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "f"), nil, 0o600)
		}, create | os.O_APPEND, nil},
		"a file that is there already": {func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "f"), nil, 0o600)
		}, create | os.O_EXCL, fs.ErrExist},
		"nothing":           {func(string) error { return nil }, os.O_RDONLY, fs.ErrNotExist},
		"nothing, to write": {func(string) error { return nil }, create, nil},
		"a link": {func(dir string) error {
			return os.Symlink("other", filepath.Join(dir, "f"))
		}, os.O_RDONLY, rootfile.ErrNotRegular},
		"a link, to write": {func(dir string) error {
			return os.Symlink("other", filepath.Join(dir, "f"))
		}, create, rootfile.ErrNotRegular},
		"a link to nothing, to write": {func(dir string) error {
			return os.Symlink("nowhere", filepath.Join(dir, "f"))
		}, create, rootfile.ErrNotRegular},
		"a link out of the root": {func(dir string) error {
			return os.Symlink("/etc/passwd", filepath.Join(dir, "f"))
		}, os.O_RDONLY, rootfile.ErrNotRegular},
		"a named pipe": {func(dir string) error {
			return syscall.Mkfifo(filepath.Join(dir, "f"), 0o600)
		}, os.O_RDONLY, rootfile.ErrNotRegular},
		"a folder": {func(dir string) error {
			return os.Mkdir(filepath.Join(dir, "f"), 0o700)
		}, os.O_RDONLY, rootfile.ErrNotRegular},
		"truncation": {func(string) error { return nil }, create | os.O_TRUNC, fs.ErrInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			err := os.WriteFile(filepath.Join(dir, "other"), nil, 0o600)
			if err := errors.Join(err, c.make(dir)); err != nil {
				t.Fatal(err)
			}
			root, err := os.OpenRoot(dir)
			if err != nil {
				t.Fatal(err)
			}
			defer root.Close()
			f, err := rootfile.Open(root, "f", c.flag, 0o600)
			if err == nil {
				f.Close()
			}
			if !errors.Is(err, c.want) {
				t.Errorf("%v, not %v", err, c.want)
			}
			if _, err := os.Lstat(filepath.Join(dir, "nowhere")); err == nil {
				t.Error("it made what a link names")
			}
		})
	}
}

// A file that becomes a link between looking and opening is not followed.
func TestOpenWhileItChanges(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	other, f := filepath.Join(dir, "other"), filepath.Join(dir, "f")
	if err := os.WriteFile(other, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	stop, stopped := make(chan struct{}), make(chan error, 1)
	go func() {
		link, file := filepath.Join(dir, "link"), filepath.Join(dir, "file")
		for {
			select {
			case <-stop:
				stopped <- nil
				return
			default:
			}
			err := errors.Join(os.Symlink("other", link), os.Rename(link, f),
				os.WriteFile(file, nil, 0o600), os.Rename(file, f))
			if err != nil {
				stopped <- err
				return
			}
		}
	}()
	for range 2000 {
		opened, err := rootfile.Open(root, "f", os.O_RDONLY, 0)
		if err != nil {
			continue
		}
		if info, err := opened.Stat(); err != nil || info.Size() != 0 {
			t.Errorf("followed: %v, %v", info, err)
		}
		opened.Close()
	}
	close(stop)
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}
