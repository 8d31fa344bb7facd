package server

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"path"
	"slices"

	"mlframework/infra/filesync"
	"mlframework/infra/layout"
	"mlframework/projects"
)

// listRevisions answers with the releases of a root that can be sent, sorted; none where there is
// no root.
func listRevisions(w http.ResponseWriter, r *http.Request) error {
	root, err := openAsked(r, false)
	if isAbsent(err) {
		return json.NewEncoder(w).Encode([]string{})
	}
	if err != nil {
		return err
	}
	defer root.Close()
	names, err := root.revisions()
	if err != nil {
		return err
	}
	return json.NewEncoder(w).Encode(slices.DeleteFunc(names, func(name string) bool {
		_, err := root.Lstat(layout.Manifests + "/" + name)
		return err != nil
	}))
}

// sendRelease answers with a release, for a host that lacks it: its manifest, and each content
// once, in the order of the manifest, which says how long it is.
func sendRelease(w http.ResponseWriter, r *http.Request) error {
	revision := r.PathValue("revision")
	if !projects.IsRevision(revision) {
		return fmt.Errorf("%q is no revision", revision)
	}
	root, err := openAsked(r, false)
	if err != nil {
		return err
	}
	defer root.Close()
	m, err := root.stored(revision)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("revision %s was not pushed to %s", revision, root.path)
	}
	if err != nil {
		return err
	}
	files, err := root.OpenRoot(path.Join(layout.Releases, revision))
	if err != nil {
		return err
	}
	defer files.Close()
	to := bufio.NewWriterSize(w, bufferSize)
	_, _ = to.Write(filesync.AppendEntries(nil, m.Entries)) // Flush has its error
	for _, e := range filesync.Contents(m) {
		f, err := files.Open(e.Path)
		if err == nil {
			_, err = io.CopyN(to, f, e.Size)
			f.Close()
		}
		if err != nil {
			panic(http.ErrAbortHandler) // so that the end is not taken for that of the release
		}
	}
	_ = to.Flush() // whoever asked is gone
	return nil
}
