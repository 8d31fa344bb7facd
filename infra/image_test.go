package infra_test

import (
	"bytes"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/infra"
	"mlframework/infra/plan"
)

// images gives hosts a version of the image of tasks, in the place of what they have; "" is none.
// The one of the laptop has the name "".
func (f *fakeHosts) images(version map[string]string, local bool) {
	for name, v := range version {
		e := f.laptop
		if name != "" {
			e = f.hosts[name].engine
		}
		delete(e.images, taskImage)
		if v != "" {
			e.put(fakeImage{ref: taskImage, version: v, local: local})
		}
	}
}

// registry has every host reach one with a version of the image of tasks.
func (f *fakeHosts) registry(version string) {
	for _, h := range f.hosts {
		h.engine.registry = map[string]string{taskImage: version, brokerImage: "1"}
	}
}

// versions are those of the image of tasks of which the hosts' workers are made.
func (f *fakeHosts) versions(names ...string) (all []string) {
	for _, n := range names {
		e := f.hosts[n].engine
		e.mu.Lock()
		if c := e.containers["mlframework-c-worker"]; c != nil {
			all = append(all, e.old[c.made].version)
		}
		e.mu.Unlock()
	}
	return all
}

// ids are those of all containers.
func (f *fakeHosts) ids() (all []string) {
	for name, h := range f.hosts {
		h.engine.mu.Lock()
		for _, c := range h.engine.containers {
			all = append(all, name+" "+c.Name+" "+c.ID)
		}
		h.engine.mu.Unlock()
	}
	slices.Sort(all)
	return all
}

// All hosts run one image under one name, wherever it comes from.
func TestHostsRunOneImage(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		has      map[string]string // before; "" is the laptop
		local    bool              // it came from no registry
		registry string            // version there; "": nobody reaches it
		want     string            // version of all workers
		digest   bool              // the registry's is noted
		store    string            // of images on gpu3
	}{
		"a host has an older one": {
			has: map[string]string{"gpu2": "1", "gpu3": "0"}, registry: "1", want: "1",
			digest: true},
		"a tag has moved, one host has it": {
			has: map[string]string{"gpu2": "1", "gpu3": ""}, registry: "1", want: "1",
			digest: true},
		"a host got it from a laptop": {
			has: map[string]string{"gpu2": "1", "gpu3": ""}, local: true, want: "1"},
		"nobody has it": {
			has: map[string]string{"gpu2": "", "gpu3": ""}, registry: "5", want: "5", digest: true},
		"the laptop has it": {
			has: map[string]string{"gpu2": "", "gpu3": "", "": "7"}, local: true, want: "7"},
		"the laptop has it, of a registry": {
			has: map[string]string{"gpu2": "", "gpu3": "", "": "7"}, want: "7", digest: true},
		"a host with another store gets it from the laptop": {
			has: map[string]string{"gpu2": "", "gpu3": "", "": "7"}, local: true, want: "7",
			store: "other"},
		"a host with another store gets it from another host": {
			has: map[string]string{"gpu2": "1", "gpu3": ""}, want: "1", digest: true,
			store: "other"},
		"the laptop has another": {
			has: map[string]string{"gpu2": "1", "gpu3": "", "": "7"}, want: "1", digest: true},
		"the laptop has an older, and asks": {
			has: map[string]string{"gpu2": "", "gpu3": "", "": "7"}, registry: "8", want: "8",
			digest: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newHosts(t, "gpu1", "gpu2", "gpu3")
			f.hosts["gpu3"].engine.store = c.store
			f.images(c.has, c.local)
			if c.registry != "" {
				f.registry(c.registry)
			}
			result, err := f.up(f.request("gpu1", "gpu2", "gpu3"))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff([]string{c.want, c.want}, f.versions("gpu2", "gpu3")); d != "" {
				t.Error(d)
			}
			pin := f.record("gpu1").Image(taskImage)
			if want := digest(taskImage, c.want); (pin.Digest == want) != c.digest ||
				c.digest && c.registry != "" && len(pin.IDs) > 0 {
				t.Errorf("the record has %+v", pin)
			}
			f.calls(pin.Name(runtime.GOARCH), "gpu2", "gpu3")
			if n := len(pin.IDs[runtime.GOARCH]); c.store != "" && n != 1 && n != 2 {
				t.Errorf("the record has %+v", pin)
			}
			if !result.Record.Equal(f.record("gpu1")) {
				t.Errorf("the result has %+v, and the record %+v", result.Record, f.record("gpu1"))
			}
			result, err = f.up(f.request("gpu1", "gpu2", "gpu3"))
			if err != nil || result.Plan.Changes {
				t.Errorf("%v, %v", result.Plan.Steps, err)
			}
		})
	}
}

// calls fails unless sweeps and check-status know the image of workers by a digest.
func (f *fakeHosts) calls(digest string, workers ...string) {
	f.t.Helper()
	c, err := infra.Open(f.t.Context(), infra.Location{Name: "c", Folder: "ml/c",
		Master: "gpu1", Targets: f.request(append(workers, "gpu1")...).Targets}, f.options())
	if err != nil {
		f.t.Fatal(err)
	}
	defer c.Close()
	all, err := c.Status(f.t.Context())
	if err != nil {
		f.t.Fatal(err)
	}
	for _, h := range all[1:] {
		ran := f.hosts[h.Name].engine.containers["mlframework-c-worker"].Cmd
		if len(h.Containers) != 1 || h.Containers[0].Digest != digest ||
			!slices.Contains(ran, taskImage+"@"+digest) {
			f.t.Errorf("%s has %+v, run with %q, and not %s", h.Name, h.Containers, ran, digest)
		}
	}
}

// A host that cannot get the image that the others run is named, and its worker is not started.
func TestAHostThatCannotGetTheImage(t *testing.T) {
	t.Parallel()
	f := newHosts(t, "gpu1", "gpu2")
	if _, err := f.up(f.request("gpu1", "gpu2")); err != nil {
		t.Fatal(err)
	}
	f.hosts["gpu3"] = &fakeHost{name: "gpu3", home: t.TempDir(), engine: newEngine(t, taskImage)}
	f.images(map[string]string{"gpu3": "2", "gpu2": "2", "gpu1": "2", "": "2"}, false)
	for _, name := range []string{"gpu1", "gpu2"} {
		f.hosts[name].engine.forget(taskImage)
	}
	_, err := f.up(f.request("gpu1", "gpu2", "gpu3"))
	if err == nil || !strings.HasPrefix(err.Error(),
		"gpu3: get the image python:3.12-slim (sha256:") {
		t.Fatal(err)
	}
	for _, part := range []string{"manifest unknown",
		"this machine has another under that name", "with --pull"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("no %q in %v", part, err)
		}
	}
	if got := f.state("gpu2", "gpu3"); len(got) != 1 || got[0] != "gpu2 worker" {
		t.Error(got)
	}
}

// An image that a host cannot pull is sent from where it is: also from another host, and from a
// laptop on which the name stands for another by now.
func TestImagesThatAreSent(t *testing.T) {
	t.Parallel()
	for name, from := range map[string]func(*fakeHosts){
		"another host": func(*fakeHosts) {},
		"the laptop, without the name": func(f *fakeHosts) {
			f.images(map[string]string{"": "1"}, false)
			f.images(map[string]string{"gpu1": "2", "gpu2": "2", "": "2"}, false)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newHosts(t, "gpu1", "gpu2", "gpu3")
			f.images(map[string]string{"gpu3": "2"}, false)
			if _, err := f.up(f.request("gpu1", "gpu2")); err != nil {
				t.Fatal(err)
			}
			from(f)
			if _, err := f.up(f.request("gpu1", "gpu2", "gpu3")); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff([]string{"1", "1"}, f.versions("gpu2", "gpu3")); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestPull(t *testing.T) {
	t.Parallel()
	f := newHosts(t, "gpu1", "gpu2", "gpu3")
	if _, err := f.up(f.request("gpu1", "gpu2", "gpu3")); err != nil {
		t.Fatal(err)
	}
	f.registry("2")
	asked := func() (n int) {
		for _, h := range f.hosts {
			n += h.engine.asked
		}
		return n
	}
	result, err := f.up(f.request("gpu1", "gpu2", "gpu3"))
	if err != nil || result.Plan.Changes || asked() > 0 {
		t.Errorf("a tag that has moved changes something: %v, %v", result.Plan.Steps, err)
	}
	pull := f.request("gpu1", "gpu2", "gpu3")
	pull.Pull = true
	var text bytes.Buffer
	pull.DryRun = &text
	changed := f.hosts["gpu2"].engine.changed()
	if _, err := f.up(pull); err != nil || f.hosts["gpu2"].engine.changed() != changed {
		t.Fatal(err, f.hosts["gpu2"].engine.changed())
	}
	was, is := digest(taskImage, "1")[:19], digest(taskImage, "2")[:19]
	for _, line := range []string{
		fmt.Sprintf("gpu3  get the image %s (%s) in the place of %s\n", taskImage, is, was),
		fmt.Sprintf("image %s -> %s)\n", was, is),
		fmt.Sprintf("image %s is %s\n", taskImage, is),
		fmt.Sprintf("image %s is %s\n", brokerImage, digest(brokerImage, "1")[:19]),
	} {
		if !strings.Contains(text.String(), line) {
			t.Errorf("no %q in\n%s", line, text.String())
		}
	}
	pull.DryRun = nil
	ofMaster := func() []string {
		return slices.DeleteFunc(f.ids(), func(id string) bool {
			return !strings.HasPrefix(id, "gpu1 ")
		})
	}
	master := ofMaster()
	if _, err := f.up(pull); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"2", "2"}, f.versions("gpu2", "gpu3")); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(master, ofMaster()); d != "" {
		t.Errorf("what has not changed was started anew: %s", d)
	}
	for _, h := range f.hosts {
		h.engine.registry = nil
	}
	if result, err := f.up(pull); err != nil || result.Plan.Changes ||
		!slices.ContainsFunc(f.warned, func(w string) bool {
			return strings.HasPrefix(w, "no registry tells what python:3.12-slim is now")
		}) {
		t.Errorf("%v, %v, %q", result.Plan.Steps, err, f.warned)
	}
}

// check-status tells of a worker that runs another image.
func TestStatusOfImages(t *testing.T) {
	t.Parallel()
	f := newHosts(t, "gpu1", "gpu2", "gpu3")
	r := f.request("gpu1", "gpu2", "gpu3")
	if _, err := f.up(r); err != nil {
		t.Fatal(err)
	}
	e := f.hosts["gpu3"].engine
	e.put(fakeImage{ref: taskImage, version: "2"})
	e.containers["mlframework-c-worker"].made = e.images[taskImage].id()
	c, err := infra.Open(t.Context(), infra.Location{Name: "c", Folder: "ml/c",
		Master: "gpu1", Targets: r.Targets}, f.options())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	all, err := c.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, h := range all {
		for _, o := range h.Containers {
			if o.Role == plan.Worker {
				got[h.Name] = fmt.Sprint(o.Digest, " ", o.Other)
			}
		}
	}
	want := map[string]string{"gpu2": digest(taskImage, "1") + " false",
		"gpu3": digest(taskImage, "2") + " true"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
