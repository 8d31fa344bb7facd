package infra

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"mlframework/infra/filesync"
	"mlframework/infra/layout"
)

// FetchRequest says which outputs of a sweep are copied from a host.
type FetchRequest struct {
	Host  string
	Tasks []int64 // indexes
}

// Outputs says what is fetched, from whichever hosts.
type Outputs struct {
	Sweep     string
	Files     []string // patterns, as in filesync.FetchOptions
	Revisions []string // that the tasks ran
}

// Fetched is what was copied from a host.
type Fetched struct {
	Host string
	filesync.Fetched
}

// ConfirmFetch asks a person before so much is fetched, and goes on with nil. Nil as a function
// refuses it, by the *filesync.LargeFetchError.
type ConfirmFetch = func(*filesync.LargeFetchError) error

// Fetch copies outputs of a sweep's tasks from their hosts to dir/SWEEP/INDEX, all hosts at once.
// It verifies what arrives, goes on where a call before it was cut off, and touches no file that no
// fetch of this sweep has made. What tasks left as it was of the revisions that they ran is no
// output.
//
// Once all hosts have said how much is to come, that is refused where the disk of dir is too small
// for it, and large is asked where it is much. Progress is told of each host in turn, one call at a
// time; nil is told nothing. What was copied is given beside an error, which is of *StepErrors, or
// what the disk or large said.
func (c *Cluster) Fetch(
	ctx context.Context, of Outputs, dir string, wanted []FetchRequest, large ConfirmFetch,
	progress func(host string, p filesync.Progress),
) ([]Fetched, error) {
	var names []string
	for _, w := range wanted {
		names = append(names, w.Host)
	}
	away, err := c.reach(ctx, names...)
	if err != nil {
		return nil, err
	}
	var mu sync.Mutex
	var done []Fetched
	errs := map[string]error{}
	for _, p := range away {
		errs[p.Host] = errors.New(p.What)
	}
	var here []string
	for _, n := range names {
		if _, there := c.connected[n]; there {
			here = append(here, n)
		} else if errs[n] == nil {
			errs[n] = errors.New(
				"it is not a host of the cluster any more; its outputs are still " +
					"there, and come when it is listed again (infrainit -f -a)")
		}
	}
	together := newMeeting(len(here), func(s filesync.FetchSize) error {
		return s.Check(dir, large)
	})
	failed := c.each(here, func(m *connectedHost) error {
		came := false
		defer func() {
			if !came {
				together.leave()
			}
		}()
		request := slices.IndexFunc(wanted, func(w FetchRequest) bool { return w.Host == m.name })
		o := filesync.FetchOptions{Sweep: of.Sweep, Dir: dir, Files: of.Files,
			Outputs: layout.HostOutputs(m.name), Without: of.Revisions,
			Tasks: wanted[request].Tasks,
			Confirm: func(s filesync.FetchSize) error {
				came = true
				return together.come(ctx, s)
			},
			Progress: func(p filesync.Progress) {
				mu.Lock()
				defer mu.Unlock()
				if progress != nil {
					progress(m.name, p)
				}
			}}
		f, err := c.fetchFrom(ctx, m, o)
		mu.Lock()
		defer mu.Unlock()
		done = append(done, Fetched{m.name, f})
		return err
	})
	if ctx.Err() != nil {
		return done, context.Cause(ctx)
	}
	if together.err != nil {
		return done, together.err
	}
	for n, err := range failed {
		errs[n] = err
	}
	if len(errs) > 0 {
		return done, stepErrors(errs, fmt.Sprintf("fetch outputs of %s", of.Sweep))
	}
	return done, nil
}

func (c *Cluster) fetchFrom(
	ctx context.Context, m *connectedHost, o filesync.FetchOptions,
) (filesync.Fetched, error) {
	client, err := c.files(ctx, m)
	if err != nil {
		return filesync.Fetched{}, err
	}
	return client.Fetch(ctx, o)
}

// CurrentRevision is the revision of the project that was brought last, to every host of the
// cluster; "" is none.
func (c *Cluster) CurrentRevision() string { return c.connected[c.location.Master].found.Revision }
