package plan_test

import (
	"strings"
	"testing"

	"mlframework/config"
	"mlframework/infra/docker"
	"mlframework/infra/plan"
	"mlframework/nvdocker"
)

// A host with GPUs that its worker cannot have has a fault, unless it is to have none.
func TestGPUsThatCannotBeHad(t *testing.T) {
	t.Parallel()
	const without = "; or set gpus: none for gpu2 under overrides in cluster.yml (--cpu: " +
		"for all hosts)\n"
	unnamed := nvdocker.GPU{Index: nvdocker.Unknown, Bus: "0000:01:00.0", Lost: "GPU is lost"}
	for name, c := range map[string]struct {
		gpus    []nvdocker.GPU
		want    config.GPUs
		make    func(*plan.Cluster, *plan.Found)
		says    []string // each problem; none: nothing is wrong
		warning bool
	}{
		"all well": {gpus: []nvdocker.GPU{gpu("a")}},
		"none, no toolkit": {
			make: func(_ *plan.Cluster, f *plan.Found) { f.Engine.Runtimes = nil }},
		"no toolkit": {gpus: []nvdocker.GPU{gpu("a"), gpu("b")},
			make: func(_ *plan.Cluster, f *plan.Found) { f.Engine.Runtimes, f.Toolkit = nil, "" },
			says: []string{"gpu2: Docker cannot pass 2 GPUs (NVIDIA L4) to containers: the " +
				"NVIDIA container toolkit is not installed\n" +
				"    run nvdocker-install for this host" + without}},
		"Docker was not restarted": {gpus: []nvdocker.GPU{gpu("a")},
			make: func(_ *plan.Cluster, f *plan.Found) { f.Engine.Runtimes = nil },
			says: []string{"is not known to Docker\n    run nvdocker-install for this host: " +
				"Docker has to be restarted" + without}},
		"CDI lacks one": {gpus: []nvdocker.GPU{gpu("a"), gpu("b")},
			make: func(_ *plan.Cluster, f *plan.Found) {
				*f = withCDI(*f, "0")
				f.Engine.Runtimes = nil
			}, says: []string{"pass 2 GPUs (NVIDIA L4) to containers: the CDI specification " +
				"lacks some of them\n    run nvdocker-install for this host" + without}},
		"one that CDI lacks is not wanted": {gpus: []nvdocker.GPU{gpu("a"), gpu("b")},
			want: config.GPUs{Devices: []string{"0"}},
			make: func(_ *plan.Cluster, f *plan.Found) {
				*f = withCDI(*f, "0")
				f.Engine.Runtimes = nil
			}},
		"a driver that does not answer": {make: func(_ *plan.Cluster, f *plan.Found) {
			f.GPUs = nvdocker.Report{Fault: &nvdocker.Problem{Cause: "it hangs", Remedy: "reboot"}}
		}, says: []string{"gpu2: its GPUs cannot be used: it hangs\n    reboot" + without}},
		"the same, without GPUs": {want: config.GPUs{None: true},
			make: func(_ *plan.Cluster, f *plan.Found) {
				f.GPUs = nvdocker.Report{Fault: &nvdocker.Problem{Cause: "it hangs"}}
			}},
		"the same, of a host without worker": {make: func(c *plan.Cluster, f *plan.Found) {
			f.GPUs = nvdocker.Report{Fault: &nvdocker.Problem{Cause: "it hangs"}}
			c.Hosts[1].Work = nil
		}},
		"the same, where Docker was not asked": {want: config.GPUs{Devices: []string{"0"}},
			make: func(_ *plan.Cluster, f *plan.Found) { f.Engine.Version = "" }},
		"one that is not there": {gpus: []nvdocker.GPU{gpu("a"), splitGPU("b")},
			want: config.GPUs{Devices: []string{"0", "7"}},
			says: []string{"gpus: 0,7: there is no GPU 7; there is: 0 (NVIDIA L4), " +
				"1:0 (NVIDIA L4), 1:1 (NVIDIA L4)\n"}},
		"a UUID that is not there": {gpus: []nvdocker.GPU{gpu("a")},
			want: config.GPUs{Devices: []string{"GPU-z"}}, says: []string{"gpus: GPU-z: " +
				"there is no GPU GPU-z; there is: GPU-a (NVIDIA L4)\n"}},
		"a UUID of two": {gpus: []nvdocker.GPU{{UUID: "GPU-1a"}, {UUID: "GPU-1b", Index: 1}},
			want: config.GPUs{Devices: []string{"GPU-1"}}, says: []string{"gpus: GPU-1: " +
				"GPU-1 begins the UUIDs of 2 GPUs: GPU-1a, GPU-1b\n    write more of the UUID; "}},
		"a lost one": {gpus: []nvdocker.GPU{gpu("a"), lostGPU("b")}, warning: true,
			says: []string{"GPU 0000:01:00.0 does not answer: GPU is lost; a worker that is " +
				"started or replaced now does without it\n"}},
		"a lost one, and one that never was": {gpus: []nvdocker.GPU{gpu("a"), lostGPU("b")},
			want: config.GPUs{Devices: []string{"0", "1", "7"}},
			says: []string{"GPU is lost", "there is no GPU 7; there is: 0 (NVIDIA L4)\n"}},
		"a lost one by its UUID, and a number that it cannot have": {
			gpus: []nvdocker.GPU{gpu("a"), lostGPU("b")},
			want: config.GPUs{Devices: []string{"GPU-b", "1"}},
			says: []string{"GPU is lost", "there is no GPU 1; there is: 0 (NVIDIA L4)\n"}},
		"a UUID that no lost one has": {gpus: []nvdocker.GPU{gpu("a"), lostGPU("b")},
			want: config.GPUs{Devices: []string{"0", "GPU-z"}},
			says: []string{"GPU is lost", "there is no GPU GPU-z; there is: GPU-a (NVIDIA L4)\n"}},
		"a UUID that a lost one may have": {gpus: []nvdocker.GPU{gpu("a"), unnamed},
			want: config.GPUs{Devices: []string{"0", "GPU-z"}}, warning: true,
			says: []string{"GPU is lost", "gpus: 0,GPU-z: no GPU that responds has the " +
				"UUID GPU-z; it is taken for that of one that is lost\n"}},
		"a number that a lost one may have": {gpus: []nvdocker.GPU{gpu("a"), lostGPU("b")},
			want: config.GPUs{Devices: []string{"0", "1"}}, warning: true,
			says: []string{"GPU is lost"}},
		"the only one is lost": {gpus: []nvdocker.GPU{lostGPU("a")},
			says: []string{"GPU is lost", "none of the worker's GPUs responds\n"}},
		"the only one is split into nothing": {gpus: []nvdocker.GPU{{UUID: "GPU-b", MIG: true}},
			says: []string{"has no instances", "none of the worker's GPUs can be used\n"}},
		"split into nothing": {gpus: []nvdocker.GPU{gpu("a"), {UUID: "GPU-b", Index: 1, MIG: true}},
			warning: true, says: []string{"GPU 1 is split (MIG) and has no instances"}},
		"fewer slots": {gpus: []nvdocker.GPU{gpu("a"), gpu("b")}, warning: true,
			make: func(c *plan.Cluster, _ *plan.Found) { c.Hosts[1].Work.Slots = 1 },
			says: []string{"the worker has more GPUs (2) than slots (1), and each task takes " +
				"a slot\n    set slots: 2 (--slots) to run a task on each\n"}},
		"another cluster's": {gpus: []nvdocker.GPU{gpu("a"), gpu("b")}, warning: true,
			make: func(_ *plan.Cluster, f *plan.Found) {
				f.Containers = []docker.Container{otherWorker("running", "nvidia.com/gpu=1",
					"GPU-z")}
			}, says: []string{"GPU 1 is also used by the worker of ben's cluster digits"}},
		"another cluster's, which is stopped": {gpus: []nvdocker.GPU{gpu("a")},
			make: func(_ *plan.Cluster, f *plan.Found) {
				f.Containers = []docker.Container{otherWorker("exited", "GPU-a")}
			}},
		"a variable": {gpus: []nvdocker.GPU{gpu("a")}, warning: true,
			make: func(c *plan.Cluster, _ *plan.Found) {
				c.Hosts[1].Work.Environment = []config.Pair{{Name: "NVIDIA_VISIBLE_DEVICES",
					Value: "all"}}
			}, says: []string{"NVIDIA_VISIBLE_DEVICES in environment has no effect"}},
		"a variable, and none": {gpus: []nvdocker.GPU{gpu("a")}, warning: true,
			want: config.GPUs{None: true}, make: func(c *plan.Cluster, _ *plan.Found) {
				c.Hosts[1].Work.Environment = []config.Pair{{Name: "NVIDIA_VISIBLE_DEVICES",
					Value: "all"}}
			}, says: []string{"NVIDIA_VISIBLE_DEVICES in environment has no effect"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, cluster := newWorld("gpu1", "gpu2"), wanted("gpu1", "gpu2")
			f := gpuHost(w.found["gpu2"], c.gpus...)
			cluster.Hosts[1].Work.GPUs = c.want
			if c.make != nil {
				c.make(&cluster, &f)
			}
			w.found["gpu2"] = f
			all := plan.Check(cluster, w.found)
			faulty := len(c.says) > 0 && !c.warning
			if len(all) != len(c.says) || (len(all.Faults()) > 0) != faulty {
				t.Fatalf("%+v, not %q", all, c.says)
			}
			for i, says := range c.says {
				if text := all[i].Error() + "\n"; !strings.Contains(text, says) ||
					all[i].Host != "gpu2" {
					t.Errorf("it says\n%snot\n%s", text, says)
				}
			}
		})
	}
}
