package filesync

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mlframework/infra/layout"
)

// A root is a host's folder of one cluster.
type root struct {
	*os.Root        // no name leads out of it
	path     string // absolute, without symbolic links
}

// openRoot opens the root of a cluster. make: it is made where there is none, and an empty folder becomes one.
func openRoot(dir string, from Identity, make bool) (*root, error) {
	if from.Owner == "" || from.Cluster == "" {
		return nil, refuse(Malformed, "the client does not say which cluster of whom it is for")
	}
	if make {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, fmt.Errorf("make the folder %s: %w", dir, err)
		}
	}
	r, err := openFolder(dir)
	if err != nil {
		return nil, err
	}
	if err := r.claim(from, make); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// openFolder opens a folder that may be a root.
func openFolder(dir string) (*root, error) {
	path, err := filepath.Abs(dir)
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, refuse(Absent, "there is no folder %s on this host: infrainit makes it", dir)
	}
	if err != nil {
		return nil, err
	}
	home, _ := os.UserHomeDir()
	if home, err := filepath.EvalSymlinks(home); err == nil && home == path || path == filepath.Dir(path) {
		return nil, refuse(Unmarked, "%s holds more than a cluster's files: name a folder below it", path)
	}
	opened, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	return &root{Root: opened, path: path}, nil
}

// claim sees that the root is the cluster's.
func (r *root) claim(from Identity, make bool) error {
	for range 2 { // again where somebody else was faster
		m, err := r.marker()
		switch {
		case err == nil && m.Owner == from.Owner && m.Cluster == from.Cluster:
			return nil
		case err == nil:
			return &Refusal{Code: OtherOwner, Owner: m.Owner, Cluster: m.Cluster, Text: fmt.Sprintf(
				"%s holds the files of the cluster %q of %s: take another folder with -r", r.path, m.Cluster, m.Owner)}
		case !errors.Is(err, fs.ErrNotExist):
			return err
		}
		held, err := r.content()
		if err != nil {
			return err
		}
		if held != "" {
			return refuse(Unmarked, "%s is not a cluster's: it has no %s and holds %q: take another folder with -r, or empty it", r.path, layout.MarkerFile, held)
		}
		if !make {
			return refuse(Absent, "%s is empty: infrainit fills it", r.path)
		}
		if err := r.mark(from); !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return refuse(Failed, "%s: its marker %s comes and goes", r.path, layout.MarkerFile)
}

// marker reads the marker; fs.ErrNotExist: there is none.
func (r *root) marker() (m layout.Marker, err error) {
	data, err := r.ReadFile(layout.MarkerFile)
	if err != nil {
		return m, err
	}
	if m, err = layout.ParseMarker(data); err != nil {
		return m, refuse(Unmarked, "%s/%s is not a marker that this release can read: take another folder with -r", r.path, layout.MarkerFile)
	}
	return m, nil
}

// content names something in a folder without marker that is not ours, "" where there is nothing.
func (r *root) content() (string, error) {
	items, err := fs.ReadDir(r.FS(), ".")
	if err != nil {
		return "", err
	}
	for _, item := range items {
		name := item.Name()
		if !strings.HasPrefix(name, layout.MarkerFile+".") && !r.ownProgram(item) {
			return name, nil
		}
	}
	return "", nil
}

// ownProgram says whether an item of the root is this program, which was put there before it could make the marker: a file
// bin/sweepd*, with nothing beside it.
func (r *root) ownProgram(item fs.DirEntry) bool {
	program, err := os.Executable()
	if err != nil || !item.IsDir() || item.Name() != layout.Programs || filepath.Dir(program) != filepath.Join(r.path, layout.Programs) {
		return false
	}
	items, err := fs.ReadDir(r.FS(), layout.Programs)
	return err == nil && !slices.ContainsFunc(items, func(i fs.DirEntry) bool { return !strings.HasPrefix(i.Name(), layout.Program) })
}

// mark makes the marker in one step; fs.ErrExist: there is one.
func (r *root) mark(from Identity) error {
	m := layout.NewMarker(from.Owner, from.Cluster)
	m.Since = time.Now().UTC().Truncate(time.Second)
	temporary := layout.MarkerFile + "." + rand.Text()
	defer r.Remove(temporary)
	if err := r.WriteFile(temporary, m.Encode(), 0o600); err != nil {
		return err
	}
	return r.Link(temporary, layout.MarkerFile)
}

// folder makes a folder of the root, which is none of a link's, and gives its path. Its mode does not depend on the umask:
// workers may have another uid.
func (r *root) folder(name string, mode fs.FileMode) (string, error) {
	err := r.Mkdir(name, mode)
	if err == nil {
		err = r.Chmod(name, mode)
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	info, err := r.Lstat(name)
	if err != nil {
		return "", err
	}
	if !info.IsDir() {
		return "", refuse(Failed, "%s is no folder: remove it", filepath.Join(r.path, name))
	}
	return filepath.Join(r.path, name), nil
}

// replace writes a file in one step.
func (r *root) replace(name string, data []byte) error {
	temporary := name + ".tmp"
	if err := r.WriteFile(temporary, data, 0o600); err != nil {
		return err
	}
	return r.Rename(temporary, name)
}
