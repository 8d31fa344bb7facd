package infra_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mlframework/infra"
	"mlframework/infra/plan"
)

// workerImages are those of the containers of workers that are there, with those that do not run in
// brackets.
func (e *engine) workerImages() (all []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for name, c := range e.containers {
		if !strings.HasPrefix(name, "mlframework-c-worker") {
			continue
		}
		image := c.Image
		if c.State != "running" {
			image = "(" + image + ")"
		}
		all = append(all, image)
	}
	return all
}

// A worker is touched when nothing can be known any more that keeps it, or another one, from being
// replaced; one that cannot be started all the same leaves the old one.
func TestWorkersThatCannotBeReplaced(t *testing.T) {
	t.Parallel()
	const other = "python:3.14-slim"
	for name, c := range map[string]struct {
		make      func(*fakeHosts, *infra.Request)
		err       string
		untouched bool // also the other host's
	}{
		"a folder is missing": {func(_ *fakeHosts, r *infra.Request) {
			r.Project.Volumes = []string{"~/nosuch:/nosuch:ro"}
		},
			"has no folder", true},
		"an image is missing": {func(f *fakeHosts, _ *infra.Request) {
			for _, h := range f.hosts { // one that has it would send it
				delete(h.engine.images, other)
			}
		}, "or name another with --image (image: in tasks.yml or cluster.yml)", true},
		"the start fails": {func(f *fakeHosts, _ *infra.Request) {
			f.hosts["gpu3"].engine.refuses["mlframework-c-worker"] = "no space left on device"
		}, "no space left on device", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newHosts(t, "gpu1", "gpu2", "gpu3")
			if _, err := f.up(f.request("gpu1", "gpu2", "gpu3")); err != nil {
				t.Fatal(err)
			}
			for _, h := range f.hosts {
				h.engine.put(fakeImage{ref: other, version: "1"})
			}
			r := f.request("gpu1", "gpu2", "gpu3")
			r.Project.Image, r.Now = other, false
			c.make(f, &r)
			_, err := f.up(r)
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%v", err)
			}
			if d := cmp.Diff([]string{taskImage}, f.hosts["gpu3"].engine.workerImages()); d != "" {
				t.Error(d)
			}
			if d := cmp.Diff([]string{taskImage}, f.hosts["gpu2"].engine.workerImages()); d != "" &&
				c.untouched {
				t.Error(d)
			}
			if f.drained["gpu3"] {
				t.Error("the worker is left draining")
			}
			for _, h := range f.hosts {
				h.engine.refuses = map[string]string{}
				h.engine.put(fakeImage{ref: other, version: "1"})
			}
			r.Project.Volumes = nil
			if _, err := f.up(r); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff([]string{other}, f.hosts["gpu3"].engine.workerImages()); d != "" {
				t.Error(d)
			}
		})
	}
}

// A call that is interrupted while a container is replaced leaves one that runs, and one that is
// killed then leaves what the next one removes.
func TestInterruptedReplacement(t *testing.T) {
	t.Parallel()
	f := newHosts(t, "gpu1", "gpu2")
	if _, err := f.up(f.request("gpu1", "gpu2")); err != nil {
		t.Fatal(err)
	}
	const other = "python:3.14-slim"
	f.hosts["gpu2"].engine.put(fakeImage{ref: other, version: "1"})
	r := f.request("gpu1", "gpu2")
	r.Project.Image = other
	gone := errors.New("gone")
	ctx, cancel := context.WithCancelCause(t.Context())
	f.hosts["gpu2"].engine.stopped = func() { cancel(gone) }
	if _, err := infra.Up(ctx, r, f.options()); !errors.Is(err, gone) {
		t.Errorf("%v", err)
	}
	if d := cmp.Diff([]string{"gpu2 worker"}, f.state("gpu2")); d != "" {
		t.Error(d)
	}
	f.hosts["gpu2"].engine.stopped = nil
	aside := *f.hosts["gpu2"].engine.containers["mlframework-c-worker"]
	if _, err := f.up(r); err != nil {
		t.Fatal(err)
	}
	aside.ID, aside.Name, aside.State = "0", "mlframework-c-worker-replaced", "exited"
	f.hosts["gpu2"].engine.containers[aside.Name] = &aside
	if _, err := f.up(r); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{other}, f.hosts["gpu2"].engine.workerImages()); d != "" {
		t.Error(d)
	}
}

// A container that is being stopped when a call is interrupted goes on afterwards.
func TestInterruptedStop(t *testing.T) {
	t.Parallel()
	const other = "rabbitmq:4.3"
	for name, c := range map[string]struct {
		host, role string
		change     func(*infra.Request)
	}{
		"of a broker that is replaced": {"gpu1", plan.Broker,
			func(r *infra.Request) { r.BrokerImage = other }},
		"of a worker that is replaced": {"gpu2", plan.Worker,
			func(r *infra.Request) { r.Project.Image = other }},
		"of a worker that is removed": {"gpu2", plan.Worker,
			func(r *infra.Request) { r.Hosts[1].Work = nil }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newHosts(t, "gpu1", "gpu2")
			r := f.request("gpu1", "gpu2")
			if _, err := f.up(r); err != nil {
				t.Fatal(err)
			}
			before, e := f.state("gpu1", "gpu2"), f.hosts[c.host].engine
			for _, h := range f.hosts {
				h.engine.put(fakeImage{ref: other, version: "1"})
			}
			gone := errors.New("gone")
			ctx, cancel := context.WithCancelCause(t.Context())
			returned, stopped := make(chan struct{}), make(chan struct{})
			e.stopping = func(left <-chan struct{}) {
				cancel(gone)
				select {
				case <-left: // then the container ends after all that the call does
					<-returned
				case <-time.After(leaves):
				}
			}
			e.stopped = sync.OnceFunc(func() { close(stopped) })
			c.change(&r)
			if _, err := infra.Up(ctx, r, f.options()); !errors.Is(err, gone) {
				t.Errorf("%v", err)
			}
			close(returned)
			<-stopped
			if d := cmp.Diff(before, f.state("gpu1", "gpu2")); d != "" {
				t.Errorf("what runs (-before +after):\n%s", d)
			}
			want := warning{c.host, "the container mlframework-c-" + c.role + " goes on as it was"}
			if !slices.Contains(f.told, want) {
				t.Errorf("%q", f.told)
			}
		})
	}
}

// Of an interrupted call it is told when a container that it stopped does not go on.
func TestInterruptedStopThatIsNotTakenBack(t *testing.T) {
	t.Parallel()
	f := newHosts(t, "gpu1", "gpu2")
	r := f.request("gpu1", "gpu2")
	if _, err := f.up(r); err != nil {
		t.Fatal(err)
	}
	gone := errors.New("gone")
	ctx, cancel := context.WithCancelCause(t.Context())
	e := f.hosts["gpu2"].engine
	e.stopped = func() {
		cancel(gone)
		e.forbids = "the disk is broken"
	}
	r.Hosts[1].Work = nil
	if _, err := infra.Up(ctx, r, f.options()); !errors.Is(err, gone) {
		t.Errorf("%v", err)
	}
	if !slices.ContainsFunc(f.told, func(w warning) bool {
		return w.host == "gpu2" && strings.Contains(w.what,
			"mlframework-c-worker does not go on as "+
				"it was: ") && strings.Contains(w.what, e.forbids)
	}) {
		t.Errorf("%q", f.told)
	}
}

// leaves is how soon a client leaves that does not wait for the end of a stop.
const leaves = 200 * time.Millisecond

// A master that was just started has not heard its workers yet, and knows what they hold: they
// finish that before they are replaced.
func TestAWorkerThatIsNotHeardYetFinishes(t *testing.T) {
	t.Parallel()
	f := newHosts(t, "gpu1", "gpu2")
	r := f.request("gpu1", "gpu2")
	if _, err := f.up(r); err != nil {
		t.Fatal(err)
	}
	const other = "python:3.14-slim"
	f.hosts["gpu2"].engine.put(fakeImage{ref: other, version: "1"})
	f.mu.Lock()
	f.silent["gpu2"] = 2
	f.mu.Unlock()
	f.hosts["gpu2"].engine.stopped = func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.silent["gpu2"] > 0 {
			t.Error("the worker was stopped while it held a task")
		}
	}
	r.Project.Image, r.Now = other, false
	if _, err := f.up(r); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{other}, f.hosts["gpu2"].engine.workerImages()); d != "" {
		t.Error(d)
	}
}
