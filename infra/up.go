package infra

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"mlframework/infra/agent"
	"mlframework/infra/docker"
	"mlframework/infra/filesync"
	"mlframework/infra/layout"
	"mlframework/infra/plan"
)

// Result is what Up has done.
type Result struct {
	Plan    plan.Plan
	Record  layout.Record
	Skipped plan.Problems // of hosts that were left out
	Took    time.Duration
	Cluster *Cluster // to be closed; nil after a failure and a dry run
}

// NoMaster says that a cluster to join was not found.
type NoMaster struct {
	Name   string
	Others []string // clusters that have their master on the hosts that were listed
}

func (n *NoMaster) Error() string {
	text := fmt.Sprintf("none of these hosts has the master of a cluster %s", n.Name)
	if len(n.Others) > 0 {
		text += "; there is: " + strings.Join(n.Others, ", ")
	}
	return text
}

// Up makes a cluster what is asked for. It changes nothing before everything was looked at: what is
// wrong with any host is an error of type plan.Problems, *NoMaster, *Locked, or the *StepErrors of
// what failed later. What this call made is taken back when it fails or ctx ends, unless the
// request says to keep it.
func Up(ctx context.Context, r Request, o Options) (Result, error) {
	begun := o.Now()
	u := &up{session: newSession(r.Name, o), request: r}
	var result Result
	var err error
	if u.nonce, err = newNonce(o.Random); err == nil {
		result, err = u.run(ctx)
	}
	result.Took = o.Now().Sub(begun)
	if err != nil || r.DryRun != nil {
		if !r.Keep || r.DryRun != nil {
			u.leave(ctx, u.reached()...)
		}
		u.close()
		return result, err
	}
	r = u.request
	result.Cluster = &Cluster{session: u.session, Record: result.Record,
		location: Location{Name: r.Name, Folder: r.Folder, Master: r.Master,
			Targets: r.Targets}}
	return result, nil
}

// up is one call.
type up struct {
	*session
	request Request
	nonce   string // of this call
	old     layout.Record
	skipped plan.Problems
}

func (u *up) run(ctx context.Context) (Result, error) {
	if err := u.discover(ctx); err != nil {
		return Result{}, err
	}
	release, err := u.locks(ctx)
	if err != nil {
		return Result{}, err
	}
	defer release()
	if err := u.unchanged(ctx); err != nil {
		return Result{}, err
	}
	if err := u.list(ctx); err != nil {
		return Result{}, err
	}
	u.running(ctx)
	if faults := plan.CheckRotation(u.request.Cluster, u.found()); len(faults) > 0 {
		return Result{}, faults
	}
	u.askForImages(ctx)
	p := plan.Make(u.request.Cluster, u.found(), u.old)
	u.warnOfLeftBehind(p)
	u.warnOfMissingFiles()
	result := Result{Plan: p, Record: p.Record, Skipped: u.skipped}
	image, large := u.checkImages(ctx, p), u.large(p)
	if u.request.DryRun != nil {
		if image != nil {
			u.o.Report.Warn("", image.Error())
		}
		if large != nil {
			u.o.Report.Warn("", large.Error())
		}
		return result, p.Write(u.request.DryRun)
	}
	if image != nil {
		return result, image
	}
	if large != nil && u.request.Large != nil {
		if err := u.request.Large(large); err != nil {
			return result, err
		}
	}
	if u.request.Begin != nil {
		if err := u.request.Begin(p); err != nil {
			return result, err
		}
	}
	result.Record, err = u.apply(ctx, p)
	u.audit(ctx, err)
	return result, err
}

// large returns what a person is asked of a project that a host has nothing of; nil when nothing.
// How much is new to a host that has a revision is known when it is brought.
func (u *up) large(p plan.Plan) *filesync.LargeError {
	for _, s := range p.Steps {
		if _, brings := s.Do.(plan.Files); brings && u.connected[s.Host].found.Revision == "" {
			large, _ := errors.AsType[*filesync.LargeError](
				filesync.CheckSize(u.request.Files.Entries))
			return large
		}
	}
	return nil
}

// found is what is known of the hosts.
func (u *up) found() map[string]plan.Found {
	all := map[string]plan.Found{}
	for n, m := range u.connected {
		all[n] = m.found
	}
	return all
}

// locks locks every host, in the order of names. Hosts that share a home folder have one lock.
func (u *up) locks(ctx context.Context) (release func(), err error) {
	if err := u.shares(ctx); err != nil {
		return nil, err
	}
	held := map[string]*agent.Lock{}
	release = func() {
		for _, l := range held {
			l.Close()
		}
	}
	if u.request.DryRun != nil {
		return release, nil
	}
	for _, n := range u.reached() {
		m := u.connected[n]
		if m.found.Shares != "" {
			continue
		}
		if held[n], err = u.lock(ctx, m); err != nil {
			delete(held, n)
			release()
			return nil, err
		}
	}
	return release, nil
}

// unchanged makes sure that nobody has changed the cluster between the look at it and the lock.
func (u *up) unchanged(ctx context.Context) error {
	now, err := u.record(ctx, u.connected[u.request.Master])
	if err == nil && !now.Equal(u.old) {
		err = errors.New("somebody else has changed this cluster just now: call infrainit again")
	}
	return err
}

// list looks again at what is there, now that nobody else changes it.
func (u *up) list(ctx context.Context) error {
	errs := u.each(u.reached(), func(m *connectedHost) error {
		var refs []string
		for _, h := range u.request.Hosts {
			if h.Name == m.name {
				refs = u.request.Images(h, m.found)
			}
		}
		return m.list(ctx, u.request.Name, refs)
	})
	if len(errs) > 0 {
		return problems(errs)
	}
	return u.credentials(ctx)
}

// running asks a master that runs what its workers run, and which were drained for their
// replacement. Without an answer the plan says nothing of that, and they take tasks again all the
// same.
func (u *up) running(ctx context.Context) {
	if !u.masterRuns() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	workers, err := u.o.Control.Workers(ctx, u.connected[u.request.Master].api())
	if err != nil {
		return
	}
	for _, w := range workers {
		if m, there := u.connected[w.Name]; there {
			m.found.Running, m.found.Drained, m.found.Lacks = w.Running, w.Replaced, w.Lacks
		}
	}
}

// masterRuns reports whether the master's container runs.
func (u *up) masterRuns() bool {
	return slices.ContainsFunc(u.connected[u.request.Master].found.Containers,
		func(c docker.Container) bool {
			return c.Name == u.request.Container(plan.Master) && c.State == "running"
		})
}

// apply carries the plan out, and takes back what it made when it fails. It returns what the record
// says then, if all went well.
func (u *up) apply(ctx context.Context, p plan.Plan) (layout.Record, error) {
	a := &applier{session: u.session, request: u.request, old: u.old,
		shipping: make(chan struct{}, mostShipped), images: map[string]layout.RecordImage{}}
	for _, i := range p.Record.Images {
		a.images[i.Ref] = i
	}
	err := execute(ctx, p.Steps, u.o.Now, a.do, func(s plan.Step, took time.Duration) {
		u.o.Report.Did(s.Host, s.Title, took)
	})
	if err != nil && !u.request.Keep && len(a.undos) > 0 {
		u.o.Report.Warn("", "failed; rolling back the changes of this run")
		err = errors.Join(err, a.rollback(ctx))
	}
	if err != nil && a.rotating() {
		u.o.Report.Warn("", "the new passwords and certificates are not in use everywhere yet: "+
			"infrainit -f goes on with it")
	}
	return a.withImages(p.Record), err
}

// mostShipped is how many images are sent from here at once.
const mostShipped = 2
