package server

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"mlframework/infra/filesync"
	"mlframework/projects"
)

// cacheName is the folder in which Python keeps what it compiled: never an output.
const cacheName = "__pycache__"

// A checkout is a release as folders of tasks have it while their attempts run, and until it was
// taken out of them: its folders, and copies of its files or links to them. What of it a task left
// as it was is no output.
type checkout struct {
	release string // its path below the root, which links to its files have before the file's
	files   *os.Root
}

// checkouts opens the releases of revisions that there are, in the folder releases.
func checkouts(
	revisions []string, releases string, open func(string) (*os.Root, error),
) (all []checkout, err error) {
	for _, revision := range revisions {
		if !projects.IsRevision(revision) {
			return all, fmt.Errorf("there can be no revision %q", revision)
		}
		release := path.Join(releases, revision)
		files, err := open(release)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return all, err
		}
		all = append(all, checkout{release, files})
	}
	return all, nil
}

// ofTasks are the outputs among what tasks' folders hold, in the order of a walk through them.
func ofTasks(all []filesync.Output, checkouts []checkout) []filesync.Output {
	var outputs []filesync.Output // backwards: what a folder holds comes before it
	holds := map[string]bool{}
	for _, e := range slices.Backward(all) {
		_, below, _ := strings.Cut(e.Path, "/")
		untouched := below != "" && slices.ContainsFunc(checkouts, func(c checkout) bool {
			return c.has(e.Entry, below)
		})
		if untouched && !holds[e.Path] {
			continue
		}
		holds[path.Dir(e.Path)] = true
		outputs = append(outputs, e)
	}
	slices.Reverse(outputs)
	return outputs
}

// has reports whether an entry of a task's folder is the release's, or a cache of a program of it.
// What cannot be read is not.
func (c *checkout) has(e projects.Entry, below string) bool {
	if e.Kind == projects.Symlink &&
		strings.HasSuffix(path.Clean(e.Link), "/"+path.Join(c.release, below)) {
		return true
	}
	if dir, _, in := strings.Cut("./"+below+"/", "/"+cacheName+"/"); in {
		info, err := c.files.Stat(path.Clean(dir))
		return err == nil && info.IsDir()
	}
	info, err := c.files.Lstat(below)
	if err != nil {
		return false
	}
	switch e.Kind {
	case projects.Dir:
		return info.IsDir()
	case projects.Symlink:
		target, err := c.files.Readlink(below)
		return err == nil && target == e.Link
	case projects.File:
		return info.Mode().IsRegular() && info.Size() == e.Size &&
			info.Mode()&0o100 == e.Mode&0o100 && info.ModTime().Equal(e.ModTime)
	}
	return false
}
