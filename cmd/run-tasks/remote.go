package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/user"
	"sync"
	"time"

	"mlframework/cmd/internal/cli"
	"mlframework/cmd/internal/site"
	"mlframework/cmd/run-tasks/display"
	"mlframework/cmd/run-tasks/project"
	"mlframework/projects"
	"mlframework/sweep/api"
	"mlframework/sweep/definition"
	"mlframework/sweep/metric"
)

// remote is the sweeps of a master.
type remote struct {
	*api.Client
	self     string // how hints begin
	messages *display.Messages
	outage   outage
	cluster  *cluster // through which it is reached; nil: its socket is on this machine
}

// named has a client say who asks.
func named(c *api.Client) *api.Client {
	if u, err := user.Current(); err == nil {
		c.User = u.Username
	}
	return c
}

// restartTime is how long a master that died while it had a write may take until it is there again.
const restartTime = 10 * time.Second

// newRemote is the sweeps of the master that a client asks.
func (c *command) newRemote(client *api.Client) *remote {
	m := &remote{Client: client, self: c.self, messages: c.messages}
	m.Waiting, m.Repeat = m.messages.Note, restartTime
	return m
}

func (m *remote) close() error {
	m.Close()
	if m.cluster != nil {
		m.cluster.end()
		m.cluster.Close()
	}
	return nil
}

func (m *remote) measure(ctx context.Context, s api.Sweep, rules []metric.Rule,
	tasks []endedTask) ([]api.MeasuredTask, error) {
	ask := api.Measure{Metrics: rules}
	for _, t := range tasks {
		ask.Tasks = append(ask.Tasks, t.index)
	}
	all, err := m.Measure(ctx, s.ID, ask)
	return all.Tasks, err
}

func (*remote) folder(string) string { return "" }

func (m *remote) act(_ context.Context, do func(*api.Client) error) error {
	return do(m.Client)
}

// follow goes on when the master went away and came back.
func (m *remote) follow(ctx context.Context, b api.StartedSweep, d api.Detail,
	each func(api.Update) error) error {
	return m.Follow(ctx, b.ID, api.FollowOptions{Detail: d, After: b.Events,
		OnDisconnect: m.noteOutage}, each)
}

// outage is why a master is away, as it was last told. Both streams of a task notice it.
type outage struct {
	mu   sync.Mutex
	told outageKind
}

type outageKind int

const (
	noOutage outageKind = iota
	cutOff
	frozen
	workerAway // the master answers, and cannot read what a worker has
)

// waitForMaster lets requests of a source wait for a master that is silent, as following a sweep
// does.
func waitForMaster(src source) {
	if m, is := src.(*remote); is {
		m.OnDisconnect = m.noteOutage
	}
}

// noteOutage says once that the master went away, or is back (nil).
func (m *remote) noteOutage(why error) (end bool) {
	is := noOutage
	refusal, refused := errors.AsType[*api.Error](why)
	switch {
	case refused:
		is = workerAway
	case errors.Is(why, api.ErrSilent):
		is = frozen
	case why != nil:
		is = cutOff
	}
	m.outage.mu.Lock()
	defer m.outage.mu.Unlock()
	switch told := m.outage.told; {
	case is == told:
	case is == workerAway:
		m.messages.Note(refusal.Text + "; waiting for it")
	case is == noOutage && told == workerAway:
		m.messages.Note("the worker is back")
	case is == noOutage:
		m.messages.Note("the master is back")
	default:
		m.messages.Note(fmt.Sprintf("lost the connection to the master (%v); workers keep "+
			"running, reconnecting", why))
	}
	m.outage.told = is
	return false
}

// logs copies both streams at once, each to its own.
func (m *remote) logs(ctx context.Context, l outputQuery) error {
	errs := make(chan error, 1)
	go func() {
		err := m.copy(ctx, l, true, l.stderr)
		if e, ok := errors.AsType[*api.Error](err); ok && (e.Status == http.StatusNotFound ||
			e.Status == http.StatusGone && l.stdout != nil) {
			err = nil // most programs print nothing there; a missing folder is reported for stdout
		}
		errs <- err
	}()
	err := errors.Join(m.copy(ctx, l, false, l.stdout), <-errs)
	if ctx.Err() != nil {
		return nil
	}
	return err
}

func (m *remote) copy(ctx context.Context, l outputQuery, stderr bool, to io.Writer) error {
	if to == nil {
		return nil
	}
	return m.Output(ctx, l.id, api.OutputOptions{Attempt: l.attempt, Stderr: stderr,
		Follow: l.follow}, to)
}

// unusedRevisions is empty: which revisions hosts have, only their removal tells.
func (*remote) unusedRevisions(context.Context, []string) ([]string, error) { return nil, nil }

// freshRevision is how old a revision on a host is, at most, that stays: a sweep of it may be about
// to be submitted.
const freshRevision = 10 * time.Minute

// dropRevisions removes revisions from the hosts that are reached. That it cannot is noted, and no
// failure.
func (m *remote) dropRevisions(ctx context.Context) (n int, err error) {
	if m.cluster == nil {
		return 0, nil
	}
	keep, err := m.cluster.site.Infra.Control.Revisions(ctx, m.cluster.Dial())
	if err != nil {
		return 0, err
	}
	all, err := m.Sweeps(ctx, "", 0)
	if err != nil {
		return 0, err
	}
	for _, s := range all {
		keep = append(keep, s.Revision)
	}
	gone, err := m.cluster.Prune(ctx, keep, freshRevision)
	if err != nil {
		m.messages.Note(fmt.Sprintf("old revisions were not removed from all hosts: %v", err))
	}
	names := map[string]bool{}
	for _, host := range gone {
		for _, r := range host.Revisions {
			names[r.Name] = true
		}
	}
	return len(names), nil
}

func (m *remote) client() *api.Client { return m.Client }

// accepts compares the workers of a cluster; those of a master that is reached by its socket run as
// they were started.
func (m *remote) accepts(ctx context.Context, dir string, file *definition.File) error {
	if err := m.ready(ctx); err != nil || m.cluster == nil || file == nil {
		return err
	}
	workers, err := m.Workers(ctx)
	if err != nil {
		return err
	}
	return m.compare(ctx, dir, file, workers)
}

// complete adds the values of secrets, which are in this environment.
func (*remote) complete(s *api.Submission) (err error) {
	s.Secrets, err = secretValues(s.Record.Recipe.Secrets)
	return err
}

// Waiting for a master that cannot run anything now.
const (
	readyTime = 10 * time.Second
	readyLook = 500 * time.Millisecond
)

// ready waits a little for a master that has no broker, and says so.
func (m *remote) ready(ctx context.Context) error {
	end := time.Now().Add(readyTime)
	for said := false; ; said = true {
		r, err := m.Ready(ctx)
		if err != nil || r.Ready {
			return err
		}
		why := site.Reasons(r.Reasons)
		switch {
		case time.Now().After(end):
			return &cli.Error{Code: cli.Unreachable, Err: fmt.Errorf("the master does not take "+
				"sweeps to its workers: %s", why),
				Remedy: "nothing was changed; try again when that is over"}
		case !said:
			m.messages.Note(fmt.Sprintf("the master is not ready: %s; waiting %v", why, readyTime))
		}
		select {
		case <-time.After(readyLook):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// take brings the files of a project to where the workers of the master find them.
func (m *remote) take(ctx context.Context, dir string) (*projects.Manifest, error) {
	if m.cluster != nil {
		files, err := m.cluster.bring(ctx, dir)
		if err != nil {
			return nil, err
		}
		printer := m.cluster.site.Printer
		if err := m.bringLacked(ctx, files.Revision(), func(host string, took time.Duration) {
			printer.Did(host, "bring the project's files", took)
		}); err != nil {
			printer.Warn("", "a host lacks the project's files, and gets no tasks that need them: "+
				err.Error())
		}
		return files, nil
	}
	b, err := m.Broker(ctx)
	if err != nil {
		return nil, err
	}
	unreachable := func(remedy, format string, args ...any) error {
		return &cli.Error{Code: cli.Unreachable, Err: fmt.Errorf(format, args...), Remedy: remedy}
	}
	if b.Revisions == nil {
		return nil, unreachable("start it with --revisions FOLDER, and its workers with the same",
			"the master names no folder for the files of projects")
	}
	if info, err := os.Stat(*b.Revisions); err != nil || !info.IsDir() {
		return nil, unreachable("run this on the master's machine", "the workers find the files "+
			"of projects in %s, which is no folder of this machine", *b.Revisions)
	}
	files, _, err := projects.Take(ctx, dir, *b.Revisions,
		projects.Options{Cache: site.HashCache(dir)})
	return files, project.FilesError(err)
}
