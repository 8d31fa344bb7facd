package plan_test

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"testing"

	"mlframework/config"
	"mlframework/infra/docker"
	"mlframework/infra/plan"
	"mlframework/nvdocker"
)

// No container can start with a GPU that is lost: one that has to start, or to be made anew, does
// without it.
func TestALostGPUOfAWorkerThatHasToStart(t *testing.T) {
	t.Parallel()
	state := func(s string) func(*plan.Found, *docker.Container) {
		return func(_ *plan.Found, o *docker.Container) { o.State = s }
	}
	for name, c := range map[string]struct {
		change func(*plan.Found, *docker.Container)
		title  string // of its step; "": it stays
	}{
		"it runs":      {state("running"), ""},
		"it is paused": {state("paused"), ""},
		"it stopped":   {state("exited"), "restart the worker, 4 slots, 1 GPU (GPUs 2 -> 1)"},
		"it restarts":  {state("restarting"), "restart the worker, 4 slots, 1 GPU (GPUs 2 -> 1)"},
		"it never ran": {state("created"), "restart the worker, 4 slots, 1 GPU (GPUs 2 -> 1)"},
		"another image": {func(f *plan.Found, o *docker.Container) {
			i := anImage(o.Image, "2", false)
			f.Images = maps.Clone(f.Images)
			f.Images[i.ID], o.ImageID = i, i.ID
		}, "restart the worker, 4 slots, 1 GPU (GPUs 2 -> 1; image sha256:2-python:3.1 " +
			"-> sha256:1-python:3.1)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, cluster := newWorld("gpu1", "gpu2"), wanted("gpu1", "gpu2")
			w.found["gpu2"] = gpuHost(w.found["gpu2"], gpu("a"), gpu("b"))
			w.run(t, cluster)
			f := gpuHost(w.found["gpu2"], gpu("a"), lostGPU("b"))
			c.change(&f, &f.Containers[0])
			w.found["gpu2"] = f
			spec, title := w.replaced(t, cluster)
			if title != c.title {
				t.Errorf("the step is %q, not %q", title, c.title)
			}
			if (spec == nil) != (c.title == "") ||
				spec != nil && !slices.Equal(spec.Devices[0].IDs, []string{"GPU-a"}) {
				t.Errorf("it is made as %+v", spec)
			}
			if again := w.plan(cluster); again.Changes {
				t.Errorf("again: %+v", again.Steps)
			}
		})
	}
}

// A running worker's container that has the GPUs that it is to have stays, by whatever names it was
// given them. One that has to be made anew has the names of now.
func TestNamesOfGPUs(t *testing.T) {
	t.Parallel()
	type host = func(plan.Found) plan.Found
	cdi := func(names string, gpus ...nvdocker.GPU) host {
		return func(f plan.Found) plan.Found {
			return withCDI(gpuHost(f, gpus...), strings.Fields(names)...)
		}
	}
	requests := func(gpus ...nvdocker.GPU) host {
		return func(f plan.Found) plan.Found {
			f = gpuHost(f, gpus...)
			f.Engine.CDISpecDirs, f.Engine.CDIDevices = nil, nil
			return f
		}
	}
	renumbered := func(letter string, index int) nvdocker.GPU {
		g := gpu(letter)
		g.Index = index
		return g
	}
	first := config.GPUs{Devices: []string{"GPU-a"}}
	for name, c := range map[string]struct {
		want    config.GPUs
		was, is host
		state   string
		why     string // it is replaced; "": it stays
		ids     string // that it has then
	}{
		"UUIDs have names now": {was: cdi("0 1", gpu("a"), gpu("b")),
			is: cdi("0 1 GPU-a GPU-b", gpu("a"), gpu("b")), ids: "0 1"},
		"UUIDs have no names any more": {was: cdi("GPU-a GPU-b", gpu("a"), gpu("b")),
			is: cdi("0 1", gpu("a"), gpu("b")), ids: "GPU-a GPU-b"},
		"UUIDs have names now, and it stopped": {was: cdi("0 1", gpu("a"), gpu("b")),
			is: cdi("0 1 GPU-a GPU-b", gpu("a"), gpu("b")), state: "exited",
			why: "the same GPUs by other names", ids: "GPU-a GPU-b"},
		"UUIDs have names now, and one is lost": {was: cdi("0 1", gpu("a"), gpu("b")),
			is: cdi("1 GPU-b", lostGPU("a"), gpu("b")), ids: "0 1"},
		"CDI is gone": {was: cdi("GPU-a", gpu("a")), is: requests(gpu("a")), ids: "GPU-a"},
		"CDI is gone, and it stopped": {was: cdi("GPU-a", gpu("a")), is: requests(gpu("a")),
			state: "exited", why: "GPUs by device requests", ids: "GPU-a"},
		"CDI came": {was: requests(gpu("a")), is: cdi("GPU-a", gpu("a")), why: "GPUs by CDI",
			ids: "GPU-a"},
		"all of them have other numbers": {was: cdi("0 1", gpu("a"), gpu("b")),
			is: cdi("0 1", renumbered("b", 0), renumbered("a", 1)), ids: "0 1"},
		// what Docker calls 0 is another GPU since the host was booted
		"its number is another's": {want: first, was: cdi("0 1", gpu("a"), gpu("b")),
			is: cdi("0 1", renumbered("b", 0), renumbered("a", 1)), why: "other GPUs", ids: "1"},
		"instances": {was: cdi("0:0 0:1", splitGPU("a")), is: cdi("MIG-a0 MIG-a1", splitGPU("a")),
			ids: "0:0 0:1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, cluster := newWorld("gpu1", "gpu2"), wanted("gpu1", "gpu2")
			cluster.Hosts[1].Work.GPUs = c.want
			w.found["gpu2"] = c.was(w.found["gpu2"])
			w.run(t, cluster)
			f := c.is(w.found["gpu2"])
			f.Containers[0].State = cmp.Or(c.state, "running")
			w.found["gpu2"] = f
			spec, title := w.replaced(t, cluster)
			if (spec != nil) != (c.why != "") || !strings.Contains(title, c.why) {
				t.Errorf("it says %q, not %q", title, c.why)
			}
			var ids []string
			for _, id := range w.found["gpu2"].Containers[0].Devices[0].IDs {
				ids = append(ids, strings.TrimPrefix(id, "nvidia.com/gpu="))
			}
			if got := strings.Join(ids, " "); got != c.ids {
				t.Errorf("it has %s, not %s", got, c.ids)
			}
			if again := w.plan(cluster); again.Changes {
				t.Errorf("again: %+v", again.Steps)
			}
		})
	}
}

// "gpus: none" changes nothing on a host that has no GPUs, and keeps those that it has from images
// that ask for them.
func TestNoGPUsWhereNoneAre(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		make    func(*plan.Found)
		changes bool
	}{
		"nothing of NVIDIA": {func(*plan.Found) {}, false},
		"the toolkit alone": {func(f *plan.Found) { f.Toolkit = "1.17.8" }, false},
		"GPUs": {func(f *plan.Found) { f.GPUs.GPUs = []nvdocker.GPU{gpu("a")} },
			true},
		"a driver that does not respond": {func(f *plan.Found) {
			f.GPUs.Fault = &nvdocker.Problem{Cause: "it hangs"}
		}, true},
		"NVIDIA's runtime": {func(f *plan.Found) { f.Engine.Runtimes = []string{"nvidia"} }, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, cluster := newWorld("gpu1", "gpu2"), wanted("gpu1", "gpu2")
			f := w.found["gpu2"]
			f.Engine.Version = "26.1.5"
			w.found["gpu2"] = f
			w.run(t, cluster)
			f = w.found["gpu2"]
			c.make(&f)
			w.found["gpu2"] = f
			cluster.Hosts[1].Work.GPUs.None = true
			spec, title := w.replaced(t, cluster)
			if (spec != nil) != c.changes {
				t.Errorf("it is replaced: %q", title)
			}
			if spec != nil && !slices.Contains(spec.Env, "NVIDIA_VISIBLE_DEVICES=void") {
				t.Errorf("it has %v", spec.Env)
			}
		})
	}
}

// replaced does a plan, and returns how the worker of gpu2 is made anew, and the step's title; nil:
// it stays, or only starts.
func (w *world) replaced(t *testing.T, c plan.Cluster) (spec *docker.Spec, title string) {
	t.Helper()
	for _, s := range w.run(t, c).Steps {
		if s.ID != "gpu2/worker" {
			continue
		}
		title = s.Title
		if run, is := s.Do.(plan.Run); is {
			spec = &run.Spec
		}
	}
	return spec, title
}
