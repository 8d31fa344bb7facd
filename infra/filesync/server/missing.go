package server

import (
	"context"
	"errors"
	"strings"

	"golang.org/x/sync/errgroup"

	"mlframework/infra/filesync"
	"mlframework/projects"
)

// reuse fills an assembly with what the releases of the root have, and returns one file for each
// content that none has.
func (r *root) reuse(
	ctx context.Context, a *projects.Assembly,
) (wanted []projects.Entry, err error) {
	files := a.Lacking()
	revisions, err := r.revisions()
	if err != nil {
		return nil, err
	}
	found := find(files, revisions, r.stored)
	lacking := make([]bool, len(files))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(writers)
	for i, e := range files {
		group.Go(func() error {
			switch s, ok := found[e.Hash]; {
			case ok:
				err := a.Reuse(ctx, s.revision, s.file)
				_, lacking[i] = errors.AsType[*projects.ChangedError](err)
				if lacking[i] {
					return nil
				}
				return err
			case e.Size == 0:
				return a.Put(ctx, e.Hash, strings.NewReader(""))
			}
			lacking[i] = true
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	for i, e := range files {
		if lacking[i] {
			wanted = append(wanted, e)
		}
	}
	return wanted, nil
}

// missing returns what is asked of the client: of a large content that a push before brought in
// part, the rest. It counts the bytes.
func (p *push) missing(a *projects.Assembly, wanted []projects.Entry) []filesync.Missing {
	missing := make([]filesync.Missing, len(wanted))
	at := 0
	for i, e := range wanted {
		for p.manifest.Entries[at].Path != e.Path { // both are in the same order
			at++
		}
		missing[i].Entry = at
		if e.Size > smallContent {
			missing[i].Received = a.Received(e)
		}
		p.done.Bytes += e.Size - missing[i].Received
	}
	return missing
}

// A source is a file of a release.
type source struct {
	revision string
	file     projects.Entry
}

// find looks for contents in revisions, by what their manifests say, until it knows where each is.
func find(
	files []projects.Entry, revisions []string, stored func(string) (*projects.Manifest, error),
) map[string]source {
	wanted := make(map[string]bool, len(files))
	for _, e := range files {
		if e.Size > 0 {
			wanted[e.Hash] = true
		}
	}
	found := map[string]source{}
	for _, revision := range revisions {
		if len(found) == len(wanted) {
			break
		}
		m, err := stored(revision)
		if err != nil {
			continue // a release without manifest has nothing that is known
		}
		for _, e := range m.Entries {
			if _, known := found[e.Hash]; e.Kind == projects.File && wanted[e.Hash] && !known {
				found[e.Hash] = source{revision, e}
			}
		}
	}
	return found
}
