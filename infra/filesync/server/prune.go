package server

import (
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"path/filepath"
	"slices"
	"time"

	"mlframework/infra/agent"
	"mlframework/infra/filesync"
	"mlframework/infra/layout"
	"mlframework/projects"
)

// pruneWait is how long pruning waits for a push to end.
const pruneWait = 30 * time.Second

// prune removes the releases that nobody wants, and answers with them.
func prune(w http.ResponseWriter, r *http.Request) error {
	var q filesync.Prune
	if err := agent.ReadBody(r, maxBody, &q); err != nil {
		return err
	}
	removed := []filesync.Revision{}
	root, err := openRoot(q.Root, q.Identity, false)
	if isAbsent(err) {
		return json.NewEncoder(w).Encode(removed)
	}
	if err != nil {
		return err
	}
	defer root.Close()
	unlock, err := root.lock(r.Context(), q.Who, "prune", pruneWait)
	if err != nil {
		return err
	}
	defer unlock()
	all, err := root.list()
	if err != nil {
		return err
	}
	for _, v := range all {
		if v.Current || slices.Contains(q.Keep, v.Name) || time.Since(v.Pushed) < q.Older {
			continue
		}
		if err := projects.Remove(filepath.Join(root.path, layout.Releases), v.Name); err != nil {
			return err
		}
		err := root.Remove(layout.Manifests + "/" + v.Name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		removed = append(removed, v)
	}
	return json.NewEncoder(w).Encode(removed)
}
