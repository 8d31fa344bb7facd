package api

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"mlframework/sweep/core"
	"mlframework/sweep/human"
	"mlframework/sweep/master"
	"mlframework/sweep/secret"
	"mlframework/sweep/space"
)

// Extension is what a sweep is extended by.
type Extension struct {
	Space *space.Space `json:"space"` // as the parameters are now: what the sweep has is left out
	// Overrides are those of the command line to the parameters file of which Space is; nil: those
	// that the sweep has.
	Overrides *space.Change `json:"overrides,omitempty"`
	Revision  string        `json:"revision,omitempty"` // "": the sweep's own
	Code      string        `json:"code,omitempty"`     // of Revision
	// Settings are those of attempts from now on; nil: the sweep's own.
	Settings *core.Settings `json:"settings,omitempty"`
	// Secrets are needed where the values of the sweep's secrets are gone; else they are not taken.
	Secrets secret.Values `json:"secrets,omitempty"`
	Environ Environ       `json:"environ,omitempty"` // as in Submission, from now on
}

// Update is what the master is told of it, beside the space.
func (e Extension) Update() master.Code {
	return master.Code{Revision: e.Revision, Code: e.Code, Settings: e.Settings, Secrets: e.Secrets,
		Environ: e.Environ, Overrides: e.Overrides}
}

func (s *Server) extend(w http.ResponseWriter, r *http.Request) error {
	var e Extension
	if err := read(r, &e); err != nil {
		return err
	}
	follow, err := readFollow(r)
	if err == nil {
		err = checkGoing(Going{Revision: e.Revision, Code: e.Code, Settings: e.Settings, Environ: e.Environ})
	}
	if err == nil && e.Space == nil {
		err = wrong("space", "by which parameters?")
	}
	if err != nil {
		return err
	}
	if e.Revision != "" {
		detail(r, "revision="+e.Revision)
	}
	return s.act(w, r, func(ctx context.Context, id string) error {
		if err := s.expect(ctx, w, id, follow, false); err != nil {
			return err
		}
		_, err := s.o.Master.Extend(ctx, id, e.Space, e.Update())
		return err
	})
}

// Extend gives a sweep the points of a space that its parameters did not describe so far, and lets it go on. With none
// nothing changes.
func (c *Client) Extend(ctx context.Context, id string, e Extension, f master.Detail) (Begun, error) {
	e.Environ = c.Environ
	return c.begin(ctx, "", sweepPath(id)+"/extend", e, f)
}

// priorityRule says what a priority can be.
var priorityRule = fmt.Sprintf("a priority is a whole number from -%d to %[1]d", core.MostPriority)

func badPriority(n int) bool { return n < -core.MostPriority || n > core.MostPriority }

func (s *Server) prioritize(w http.ResponseWriter, r *http.Request) error {
	text := r.URL.Query().Get("n")
	n, err := whole(text)
	if err != nil || badPriority(int(n)) {
		return wrong("n", priorityRule+", not "+cmp.Or(human.Visible(text), "nothing"))
	}
	return s.act(w, r, func(ctx context.Context, id string) error {
		_, err := s.o.Master.Prioritize(ctx, id, int(n))
		return err
	})
}

// Prioritize changes the priority of a sweep: those of a higher one go first.
func (c *Client) Prioritize(ctx context.Context, id string, priority int) (s core.Summary, err error) {
	return s, c.write(ctx, http.MethodPost, sweepPath(id)+"/priority", url.Values{"n": {strconv.Itoa(priority)}}, nil, &s)
}

func (s *Server) restart(w http.ResponseWriter, r *http.Request) error {
	now, err := flag(r.URL.Query(), "now")
	if err != nil {
		return err
	}
	ctx, cancel := brief(r)
	defer cancel()
	worker, err := s.o.Master.Restart(ctx, r.PathValue("worker"), now)
	if err != nil {
		return err
	}
	answer(w, http.StatusOK, worker)
	return nil
}

// Restart lets a worker's process end, so that what supervises it starts it again, when what runs has ended; with now that
// is stopped, uncharged.
func (c *Client) Restart(ctx context.Context, worker string, now bool) (w core.Worker, err error) {
	q := url.Values{}
	setFlag(q, "now", now)
	return w, c.write(ctx, http.MethodPost, workerPath(worker)+"/restart", q, nil, &w)
}
