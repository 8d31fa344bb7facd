package server

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"mlframework/infra/filesync"
	"mlframework/infra/layout"
)

// A root is a host's folder of one cluster.
type root struct {
	*os.Root        // no name leads out of it
	path     string // absolute, without symbolic links
}

// absentError is the error of a root that is not there.
type absentError string

func (e absentError) Error() string { return string(e) }

func isAbsent(err error) bool {
	_, is := errors.AsType[absentError](err)
	return is
}

// openRoot opens the root of a cluster. make: it is made where there is none, and an empty folder
// becomes one.
func openRoot(dir string, from filesync.Identity, make bool) (*root, error) {
	if from.Owner == "" || from.Cluster == "" {
		return nil, errors.New("the client does not say which cluster of whom it is for")
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

// openAsked is openRoot for a request that says in its address what it is about.
func openAsked(r *http.Request, make bool) (*root, error) {
	q := r.URL.Query()
	id := filesync.Identity{Owner: q.Get("owner"), Cluster: q.Get("cluster"), Who: q.Get("who")}
	return openRoot(q.Get("root"), id, make)
}

// openFolder opens a folder that may be a root.
func openFolder(dir string) (*root, error) {
	path, err := filepath.Abs(dir)
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, absentError("there is no folder " + dir + " on this host: infrainit makes it")
	}
	if err != nil {
		return nil, err
	}
	home, _ := os.UserHomeDir()
	home, err = filepath.EvalSymlinks(home)
	if err == nil && home == path || path == filepath.Dir(path) {
		return nil, fmt.Errorf("%s holds more than a cluster's files: name a folder below it", path)
	}
	opened, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	return &root{Root: opened, path: path}, nil
}

// claim sees that the root is the cluster's.
func (r *root) claim(from filesync.Identity, make bool) error {
	for range 2 { // again where somebody else was faster
		m, err := r.marker()
		switch {
		case err == nil && m.Cluster == from.Cluster:
			return nil
		case err == nil:
			return fmt.Errorf("%s holds the files of the cluster %q of %s: take another folder "+
				"with -r",
				r.path, m.Cluster, m.Owner)
		case !errors.Is(err, fs.ErrNotExist):
			return err
		}
		held, err := r.content()
		if err != nil {
			return err
		}
		if held != "" {
			return fmt.Errorf("%s is not a cluster's: it has no %s and holds %q: take another "+
				"folder with -r, or empty it", r.path, layout.MarkerFile, held)
		}
		if !make {
			return absentError(r.path + " is empty: infrainit fills it")
		}
		if err := r.mark(from); !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return fmt.Errorf("%s: its marker %s comes and goes", r.path, layout.MarkerFile)
}

// marker reads the marker; fs.ErrNotExist: there is none.
func (r *root) marker() (m layout.Marker, err error) {
	data, err := r.ReadFile(layout.MarkerFile)
	if err != nil {
		return m, err
	}
	if m, err = layout.ParseMarker(data); err != nil {
		return m, fmt.Errorf("%s/%s is not a marker that this release can read: take another "+
			"folder with -r", r.path, layout.MarkerFile)
	}
	return m, nil
}

// content names something in a folder without marker that is not ours, "" where there is nothing.
func (r *root) content() (string, error) {
	items, err := fs.ReadDir(r.FS(), ".")
	for _, item := range items {
		if !strings.HasPrefix(item.Name(), layout.MarkerFile+".") {
			return item.Name(), nil
		}
	}
	return "", err
}

// mark makes the marker in one step; fs.ErrExist: there is one.
func (r *root) mark(from filesync.Identity) error {
	m := layout.NewMarker(from.Owner, from.Cluster)
	m.Since = time.Now().UTC().Truncate(time.Second)
	temporary := layout.MarkerFile + "." + rand.Text()
	defer r.Remove(temporary)
	if err := r.WriteFile(temporary, m.Encode(), 0o600); err != nil {
		return err
	}
	return r.Link(temporary, layout.MarkerFile)
}

// folder makes a folder of the root, which is none of a link's, and returns its path. Its mode does
// not depend on the umask: workers may have another uid.
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
		return "", fmt.Errorf("%s is no folder: remove it", filepath.Join(r.path, name))
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
