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

// replace writes a file of a root in one step.
func replace(root *os.Root, name string, data []byte) error {
	part := partOf(name)
	if err := root.WriteFile(part, data, 0o600); err != nil {
		return errors.Join(err, ignoreMissing(root.Remove(part)))
	}
	return root.Rename(part, name)
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// putPrivate writes all files into a folder beside their places, and moves them there once all are
// written.
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
	if f.UID == -1 {
		return nil
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
		if err := dir.WriteFile(part, file.Data, 0o600); err != nil {
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
	return dir.Remove(fresh)
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
