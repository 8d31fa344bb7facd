package site

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"

	"mlframework/infra"
	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/table"
	"mlframework/sweep/task"
)

// control implements infra.Control with a master's API. The audit records user as the caller.
type control struct{ user string }

// Client returns a client of the master to which dial connects.
func (s *Site) Client(dial infra.Dial) *api.Client { return control{s.User}.client(dial) }

func (c control) client(dial infra.Dial) *api.Client {
	client := api.DialBy("its host", func(ctx context.Context) (net.Conn, error) {
		return dial(ctx)
	})
	client.User = c.user
	return client
}

func (c control) Ready(ctx context.Context, dial infra.Dial) error {
	client := c.client(dial)
	defer client.Close()
	r, err := client.Ready(ctx)
	if err != nil || r.Ready {
		return err
	}
	return errors.New(Reasons(r.Reasons))
}

// Reasons returns why a master is not ready, on one line.
func Reasons(all []api.Reason) string {
	texts := make([]string, len(all))
	for i, reason := range all {
		texts[i] = reason.String()
	}
	return strings.Join(texts, "; ")
}

func (c control) Workers(ctx context.Context, dial infra.Dial) (all []infra.Worker, err error) {
	client := c.client(dial)
	defer client.Close()
	workers, err := client.Workers(ctx)
	for _, w := range workers {
		shown := infra.Worker{Name: w.Name, Held: w.Held, Drained: w.State == core.WorkerDraining,
			Here: w.State != core.WorkerAway && w.Seen != nil}
		shown.Replaced, shown.Lacks = w.DrainedFor != nil, len(w.Lacks) > 0
		for _, busy := range w.Running {
			shown.Running = append(shown.Running,
				task.ID{Sweep: busy.Sweep, Index: busy.Index}.String())
		}
		if w.Reason != nil {
			shown.Reason = *w.Reason
		}
		all = append(all, shown)
	}
	return all, err
}

func (c control) Drain(ctx context.Context, dial infra.Dial, worker string) error {
	return c.setDrained(ctx, dial, worker, false)
}

func (c control) Undrain(ctx context.Context, dial infra.Dial, worker string) error {
	return c.setDrained(ctx, dial, worker, true)
}

func (c control) setDrained(
	ctx context.Context, dial infra.Dial, worker string, off bool,
) error {
	client := c.client(dial)
	defer client.Close()
	_, err := client.DrainFor(ctx, core.ForReplacement, worker, off)
	return unless(err, http.StatusNotFound)
}

func (c control) Resize(ctx context.Context, dial infra.Dial, worker string, slots int) error {
	client := c.client(dial)
	defer client.Close()
	_, err := client.Resize(ctx, worker, slots)
	return err
}

func (c control) Forget(ctx context.Context, dial infra.Dial, worker string) error {
	client := c.client(dial)
	defer client.Close()
	return unless(client.Forget(ctx, worker), http.StatusNotFound)
}

// unless returns err, or nil if it is the API's answer with that status.
func unless(err error, status int) error {
	if e, ok := errors.AsType[*api.Error](err); ok && e.Status == status {
		return nil
	}
	return err
}

func (c control) Unfinished(
	ctx context.Context, dial infra.Dial,
) (all []infra.Unfinished, err error) {
	client := c.client(dial)
	defer client.Close()
	open, err := openSweeps(ctx, client)
	for _, s := range open {
		tasks := s.Total
		for _, state := range task.States {
			if state.Terminal() {
				tasks -= s.Counts[state.String()]
			}
		}
		if tasks > 0 {
			all = append(all, infra.Unfinished{Sweep: s.ID, Tasks: tasks})
		}
	}
	return all, err
}

func (c control) Revisions(ctx context.Context, dial infra.Dial) (all []string, err error) {
	client := c.client(dial)
	defer client.Close()
	open, err := openSweeps(ctx, client)
	if err != nil {
		return nil, err
	}
	for _, s := range open {
		all = append(all, s.Revision)
		if s.Counts["queued"]+s.Counts["claimed"]+s.Counts["running"] == 0 {
			continue
		}
		// Attempts that began before a retry --updated keep the files that they began with.
		begun := api.Query{States: []task.State{task.Queued, task.Claimed, task.Running}}
		err := client.Rows(ctx, s.ID, begun, func(r *table.Row) error {
			if !slices.Contains(all, r.Revision) {
				all = append(all, r.Revision)
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("ask what runs of sweep %s: %w", s.ID, err)
		}
	}
	return all, nil
}

// openSweeps returns the sweeps that have not finished, oldest first.
func openSweeps(ctx context.Context, client *api.Client) ([]core.Summary, error) {
	all, err := client.Sweeps(ctx, "", 0)
	return slices.DeleteFunc(all, func(s core.Summary) bool {
		return s.State == core.Finished
	}), err
}
