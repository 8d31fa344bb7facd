package plan_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/config"
	"mlframework/infra/docker"
	"mlframework/infra/plan"
	"mlframework/nvdocker"
)

// gpu is one of a host: "a" is 0, "b" is 1.
func gpu(letter string) nvdocker.GPU {
	n := int(letter[0] - 'a')
	return nvdocker.GPU{UUID: "GPU-" + letter, Index: n, Name: "NVIDIA L4",
		Bus: fmt.Sprintf("0000:%02x:00.0", n), Memory: 23034 << 20, Used: 0,
		Errors: nvdocker.Unknown, Temperature: 40}
}

// lostGPU is one that does not respond any more, and has no number therefore.
func lostGPU(letter string) nvdocker.GPU {
	g := gpu(letter)
	g.Index, g.Lost = nvdocker.Unknown, "GPU is lost"
	return g
}

// splitGPU has two instances.
func splitGPU(letter string) nvdocker.GPU {
	g := gpu(letter)
	g.MIG = true
	for i := range 2 {
		g.Instances = append(g.Instances, nvdocker.Instance{Index: i, Profile: "1g.10gb",
			UUID: fmt.Sprintf("MIG-%s%d", letter, i), Memory: 10 << 30})
	}
	return g
}

// gpuHost is a host with these GPUs, whose Docker knows the runtime nvidia.
func gpuHost(f plan.Found, gpus ...nvdocker.GPU) plan.Found {
	f.GPUs = nvdocker.Report{Driver: "570.133.07", GPUs: gpus}
	f.Engine.Version, f.Engine.Runtimes = "26.1.5", []string{"nvidia", "runc"}
	f.Toolkit = "1.17.8"
	return f
}

// withCDI is a host whose Docker lists devices by CDI.
func withCDI(f plan.Found, names ...string) plan.Found {
	f.Engine.Version, f.Engine.CDISpecDirs = "28.2.2", []string{"/etc/cdi"}
	f.Engine.CDIDevices = []string{"nvidia.com/gpu=all"}
	for _, n := range names {
		f.Engine.CDIDevices = append(f.Engine.CDIDevices, "nvidia.com/gpu="+n)
	}
	return f
}

// otherWorker is one of another cluster on a host.
func otherWorker(state string, ids ...string) docker.Container {
	return docker.Container{Name: "mlframework-digits-worker", State: state,
		Labels: map[string]string{plan.ClusterLabel: "digits", plan.OwnerLabel: "ben",
			plan.RoleLabel: plan.Worker},
		Devices: []docker.Device{{Driver: "nvidia", IDs: ids}}}
}

// workerSpec is that of the only worker of a plan; nil: it stays as it is.
func workerSpec(p plan.Plan) *docker.Spec {
	for _, s := range p.Steps {
		if run, is := s.Do.(plan.Run); is && run.Spec.Labels[plan.RoleLabel] == plan.Worker {
			return &run.Spec
		}
	}
	return nil
}

// A worker's container gets the GPUs that cluster.yml names, and no others.
func TestGPUsOfAWorker(t *testing.T) {
	t.Parallel()
	const void = "NVIDIA_VISIBLE_DEVICES=void"
	two := []nvdocker.GPU{gpu("b"), gpu("a")}
	for name, c := range map[string]struct {
		gpus  []nvdocker.GPU
		want  config.GPUs
		make  func(*plan.Found)
		ids   string // of the request
		cdi   bool
		void  bool // its image gets none by itself
		title string
	}{
		"none there": {ids: "", title: "start the worker, 4 slots"},
		"all": {gpus: two, ids: "GPU-a GPU-b",
			title: "start the worker, 4 slots, 2 GPUs"},
		"none": {gpus: two, want: config.GPUs{None: true}, void: true,
			title: "start the worker, 4 slots"},
		"none, and none is there": {want: config.GPUs{None: true}, void: true,
			title: "start the worker, 4 slots"},
		"by number": {gpus: two, want: config.GPUs{Devices: []string{"0"}}, ids: "GPU-a",
			title: "start the worker, 4 slots, 1 GPU"},
		"by UUID, twice": {gpus: two, want: config.GPUs{Devices: []string{"GPU-b", "1"}},
			ids: "GPU-b"},
		"the beginning of a UUID": {gpus: []nvdocker.GPU{{UUID: "GPU-1f00"}, {UUID: "GPU-2a00"}},
			want: config.GPUs{Devices: []string{"GPU-1f"}}, ids: "GPU-1f00"},
		"instances": {gpus: []nvdocker.GPU{splitGPU("a"), gpu("b")},
			ids: "GPU-b MIG-a0 MIG-a1", title: "start the worker, 4 slots, 3 GPUs"},
		"an instance": {gpus: []nvdocker.GPU{splitGPU("a"), gpu("b")},
			want: config.GPUs{Devices: []string{"0:1"}}, ids: "MIG-a1"},
		"all instances of one": {gpus: []nvdocker.GPU{splitGPU("a"), gpu("b")},
			want: config.GPUs{Devices: []string{"0"}}, ids: "MIG-a0 MIG-a1"},
		"without a lost one": {gpus: []nvdocker.GPU{lostGPU("a"), gpu("b")}, ids: "GPU-b"},
		"by CDI": {gpus: two, make: func(f *plan.Found) {
			*f = withCDI(*f, "0", "1", "GPU-a", "GPU-b")
		}, ids: "nvidia.com/gpu=GPU-a nvidia.com/gpu=GPU-b", cdi: true, void: true},
		"by CDI, where UUIDs have no names": {gpus: two, make: func(f *plan.Found) {
			*f = withCDI(*f, "0", "1")
		}, ids: "nvidia.com/gpu=0 nvidia.com/gpu=1", cdi: true, void: true},
		"by CDI, where Docker does not tell": {gpus: two, make: func(f *plan.Found) {
			f.Engine.CDISpecDirs = []string{"/etc/cdi"}
			f.CDISpecs = []string{"/etc/cdi/nvidia.yaml"}
			f.CDINames = []string{"0", "1"}
		}, ids: "nvidia.com/gpu=0 nvidia.com/gpu=1", cdi: true, void: true},
		"by CDI, where nobody tells": {gpus: two, make: func(f *plan.Found) {
			f.Engine.CDISpecDirs = []string{"/etc/cdi"}
			f.CDISpecs = []string{"/etc/cdi/nvidia.yaml"}
		}, ids: "nvidia.com/gpu=GPU-a nvidia.com/gpu=GPU-b", cdi: true, void: true},
		"CDI lacks one": {gpus: two, make: func(f *plan.Found) { *f = withCDI(*f, "0") },
			ids: "GPU-a GPU-b"},
		"by the hook alone": {gpus: two, make: func(f *plan.Found) {
			f.Engine.Runtimes, f.NVIDIAHook = []string{"runc"}, true
		}, ids: "GPU-a GPU-b"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, cluster := newWorld("gpu1", "gpu2"), wanted("gpu1", "gpu2")
			f := gpuHost(w.found["gpu2"], c.gpus...)
			if c.make != nil {
				c.make(&f)
			}
			w.found["gpu2"] = f
			cluster.Hosts[1].Work.GPUs, cluster.Hosts[1].Work.GPUBusy = c.want, "mine"
			if all := plan.Check(cluster, w.found).Faults(); len(all) > 0 {
				t.Fatal(all)
			}
			p := w.run(t, cluster)
			spec := workerSpec(p)
			var want []docker.Device
			switch {
			case c.cdi:
				want = []docker.Device{{Driver: "cdi", IDs: strings.Fields(c.ids)}}
			case c.ids != "":
				want = []docker.Device{{Driver: "nvidia", IDs: strings.Fields(c.ids),
					Capabilities: []string{"gpu", "compute", "utility"}}}
			}
			if d := cmp.Diff(want, spec.Devices); d != "" {
				t.Error(d)
			}
			if slices.Contains(spec.Command, "--gpu-busy") != (c.ids != "") {
				t.Errorf("its command is %v", spec.Command)
			}
			locks := docker.Mount{Bind: "/dev/shm", At: "/mlframework/gpu-locks"}
			if slices.Contains(spec.Mounts, locks) != (c.ids != "") || slices.Contains(spec.Env,
				"MLFRAMEWORK_GPU_LOCKS="+locks.At) != (c.ids != "") {
				t.Errorf("GPUs are locked where others on the host do it: %v, %v", spec.Mounts,
					spec.Env)
			}
			if slices.Contains(spec.Env, void) != c.void {
				t.Errorf("its variables are %v", spec.Env)
			}
			at := slices.IndexFunc(p.Steps, func(s plan.Step) bool { return s.ID == "gpu2/worker" })
			if title := p.Steps[at].Title; c.title != "" && title != c.title {
				t.Errorf("the step is %q", title)
			}
			if again := w.plan(cluster); again.Changes {
				t.Errorf("again: %+v", again.Steps)
			}
		})
	}
}

// A worker is replaced when it is to have other GPUs, and only then. Whatever happened, the plan
// after the next has nothing to do.
func TestGPUsChange(t *testing.T) {
	t.Parallel()
	all, one := config.GPUs{}, config.GPUs{Devices: []string{"0"}}
	type host = func(plan.Found) plan.Found
	has := func(gpus ...nvdocker.GPU) host {
		return func(f plan.Found) plan.Found { return gpuHost(f, gpus...) }
	}
	renumbered := func(letter string, index int) nvdocker.GPU {
		g := gpu(letter)
		g.Index = index
		return g
	}
	busy := gpu("b")
	busy.Used, busy.Processes = 6<<30, []nvdocker.Process{{PID: 411, Name: "python"}}
	for name, c := range map[string]struct {
		before, after config.GPUs
		was, is       host
		why           string // it is replaced; "": it stays
		change        func(*plan.Cluster)
		ids           string // that it has then; "": as before
	}{
		"nothing": {all, all, has(gpu("a"), gpu("b")), has(gpu("a"), gpu("b")), "", nil, ""},
		"another order": {all, all, has(gpu("a"), gpu("b")), has(gpu("b"), gpu("a")), "", nil,
			""},
		"other numbers": {all, all, has(gpu("a"), gpu("b")),
			has(renumbered("b", 0), renumbered("a", 1)), "", nil, ""},
		"one is busy": {all, all, has(gpu("a"), gpu("b")), has(gpu("a"), busy), "", nil, ""},
		"cluster.yml": {all, one, has(gpu("a"), gpu("b")), has(gpu("a"), gpu("b")),
			"GPUs 2 -> 1", nil, "GPU-a"},
		"to none": {all, config.GPUs{None: true}, has(gpu("a")), has(gpu("a")),
			"GPUs 1 -> 0", nil, "none"},
		"from none": {config.GPUs{None: true}, all, has(gpu("a")), has(gpu("a")),
			"GPUs 0 -> 1", nil, "GPU-a"},
		"to none where only the runtime is": {all, config.GPUs{None: true}, has(), has(),
			"variable NVIDIA_VISIBLE_DEVICES", nil, "none"},
		"the other": {one, config.GPUs{Devices: []string{"1"}}, has(gpu("a"), gpu("b")),
			has(gpu("a"), gpu("b")), "other GPUs", nil, "GPU-b"},
		"by UUID instead": {one, config.GPUs{Devices: []string{"GPU-a"}},
			has(gpu("a"), gpu("b")), has(gpu("a"), gpu("b")), "", nil, ""},
		"one more": {all, all, has(gpu("a")), has(gpu("a"), gpu("b")), "GPUs 1 -> 2", nil,
			"GPU-a GPU-b"},
		"one was taken out": {all, all, has(gpu("a"), gpu("b")), has(gpu("a")),
			"GPUs 2 -> 1", nil, "GPU-a"},
		"Docker knows CDI": {all, all, has(gpu("a")), func(f plan.Found) plan.Found {
			return withCDI(gpuHost(f, gpu("a")), "GPU-a")
		}, "GPUs by CDI", nil, "nvidia.com/gpu=GPU-a"},
		"one is lost": {all, all, has(gpu("a"), gpu("b")), has(gpu("a"), lostGPU("b")), "", nil,
			""},
		"one is lost, without a UUID": {all, all, has(gpu("a"), gpu("b")),
			has(gpu("a"), nvdocker.GPU{Index: nvdocker.Unknown, Lost: "GPU is lost"}), "", nil,
			""},
		"one is lost, of CDI": {all, all, func(f plan.Found) plan.Found {
			return withCDI(gpuHost(f, gpu("a"), gpu("b")), "GPU-a", "GPU-b")
		}, func(f plan.Found) plan.Found {
			return withCDI(gpuHost(f, gpu("a"), lostGPU("b")), "GPU-a", "GPU-b")
		}, "", nil, ""},
		"a lost one of several that are named": {config.GPUs{Devices: []string{"0", "1"}},
			config.GPUs{Devices: []string{"0", "1"}}, has(gpu("a"), gpu("b")),
			has(gpu("a"), lostGPU("b")), "", nil, ""},
		"a lost one that is not wanted any more": {all, one, has(gpu("a"), gpu("b")),
			has(gpu("a"), lostGPU("b")), "GPUs 2 -> 1", nil, "GPU-a"},
		"a lost one is back": {all, all, has(gpu("a"), lostGPU("b")),
			has(gpu("a"), gpu("b")), "GPUs 1 -> 2", nil, "GPU-a GPU-b"},
		"one is lost, and the image is another": {all, all, has(gpu("a"), gpu("b")),
			has(gpu("a"), lostGPU("b")), "image python:3.12-slim -> pytorch; GPUs 2 -> 1",
			func(c *plan.Cluster) { c.Project.Image = "pytorch" }, "GPU-a"},
		"one is lost, and the slots are others": {all, all, has(gpu("a"), gpu("b")),
			has(gpu("a"), lostGPU("b")), "", func(c *plan.Cluster) { c.Hosts[1].Work.Slots = 3 },
			""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, cluster := newWorld("gpu1", "gpu2"), wanted("gpu1", "gpu2")
			w.found["gpu2"] = c.was(w.found["gpu2"])
			cluster.Hosts[1].Work.GPUs = c.before
			first := workerSpec(w.run(t, cluster))

			w.found["gpu2"] = c.is(w.found["gpu2"])
			cluster.Hosts[1].Work.GPUs = c.after
			if c.change != nil {
				c.change(&cluster)
			}
			if all := plan.Check(cluster, w.found).Faults(); len(all) > 0 {
				t.Fatal(all)
			}
			p := w.run(t, cluster)
			title := ""
			for _, s := range p.Steps {
				if s.ID == "gpu2/worker" {
					title = s.Title
				}
			}
			if c.why == "" && title != "" || !strings.Contains(title, "("+c.why+")") &&
				c.why != "" {
				t.Errorf("it says %q, not %q", title, c.why)
			}
			var want []string
			if len(first.Devices) > 0 {
				want = first.Devices[0].IDs
			}
			if c.ids != "" {
				want = strings.Fields(strings.TrimPrefix(c.ids, "none"))
			}
			var got []string
			for _, d := range w.found["gpu2"].Containers[0].Devices {
				got = append(got, d.IDs...)
			}
			if !slices.Equal(got, want) {
				t.Errorf("it has %v, not %v", got, want)
			}
			if again := w.plan(cluster); again.Changes {
				t.Errorf("again: %+v", again.Steps)
			}
		})
	}
}
