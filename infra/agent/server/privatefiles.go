package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	"mlframework/infra/agent"
)

// partOf returns the name that a file has until it is whole.
func partOf(name string) string { return name + ".part" }

// replace writes a file of a root in one step. When it returns the file is on the disk.
func replace(root *os.Root, name string, data []byte) error {
	part := partOf(name)
	if err := writeSynced(root, part, data); err != nil {
		return errors.Join(err, ignoreMissing(root.Remove(part)))
	}
	if err := root.Rename(part, name); err != nil {
		return err
	}
	return syncFolder(root, filepath.Dir(name))
}

// writeSynced writes a file with mode 0600 and brings its content to the disk.
func writeSynced(root *os.Root, name string, data []byte) error {
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = syncFile(f)
	}
	return errors.Join(err, f.Close())
}

// syncFolder brings the names in a folder to the disk. Some network file systems do so by
// themselves, and refuse.
func syncFolder(root *os.Root, name string) error {
	f, err := root.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	err = syncFile(f)
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		return nil
	}
	return err
}

// syncFile is fsync(2). A test replaces it.
var syncFile = (*os.File).Sync

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// putPrivate writes all files into a folder beside their places, and moves them there once all are
// on the disk: among them are keys and passwords that cannot be made again.
func putPrivate(_ context.Context, f agent.PrivateFiles) error {
	root, err := openRoot(f.Root)
	if err != nil {
		return err
	}
	defer root.Close()
	name, err := below(f.Root, f.Dir)
	if err != nil {
		return err
	}
	if err := root.MkdirAll(name, 0o700); err != nil {
		return err
	}
	if err := root.Chmod(name, 0o700); err != nil {
		return err
	}
	dir, err := root.OpenRoot(name)
	if err != nil {
		return err
	}
	defer dir.Close()
	if err := writePrivate(dir, f); err != nil {
		return err
	}
	if err := syncFolder(root, filepath.Dir(name)); err != nil || f.UID == -1 {
		return err
	}
	return root.Chown(name, f.UID, f.GID)
}

func writePrivate(dir *os.Root, f agent.PrivateFiles) error {
	const fresh = ".new"
	if err := dir.RemoveAll(fresh); err != nil {
		return err
	}
	if err := dir.Mkdir(fresh, 0o700); err != nil {
		return err
	}
	for _, file := range f.Files {
		if !filepath.IsLocal(file.Name) || strings.Contains(file.Name, "/") ||
			file.Name == "." || file.Name == fresh {
			return fmt.Errorf("%q cannot be the name of a file", file.Name)
		}
		part := path.Join(fresh, file.Name)
		if err := writeSynced(dir, part, file.Data); err != nil {
			return err
		}
		if f.UID == -1 {
			continue
		}
		if err := dir.Chown(part, f.UID, f.GID); err != nil {
			return err
		}
	}
	for _, file := range f.Files {
		if err := dir.Rename(path.Join(fresh, file.Name), file.Name); err != nil {
			return err
		}
	}
	if err := dir.Remove(fresh); err != nil {
		return err
	}
	return syncFolder(dir, ".")
}

// readText answers with a file of a root.
func (s *server) readText(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	t := agent.Text{Root: q.Get("root"), Name: q.Get("name")}
	err := func() error {
		root, err := openRoot(t.Root)
		if err != nil {
			return ignoreMissing(err)
		}
		defer root.Close()
		f, err := root.OpenFile(t.Name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
		if err != nil {
			return ignoreMissing(err)
		}
		defer f.Close()
		t.Data, err = io.ReadAll(io.LimitReader(f, agent.MaxText+1))
		if err == nil && len(t.Data) > agent.MaxText {
			err = fmt.Errorf("%s has more than %d bytes", path.Join(t.Root, t.Name), agent.MaxText)
		}
		return err
	}()
	if err != nil {
		fail(w, err)
		return
	}
	answer(w, t)
}

func writeText(_ context.Context, t agent.Text) error {
	root, err := openRoot(t.Root)
	if err != nil {
		return err
	}
	defer root.Close()
	return replace(root, t.Name, t.Data)
}
