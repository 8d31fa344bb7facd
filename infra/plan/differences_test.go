package plan_test

import (
	"strings"
	"testing"

	"mlframework/config"
	"mlframework/infra/plan"
)

// A plan says why a container is replaced and which tasks that interrupts.
func TestAPlanSaysWhatDiffers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*plan.Cluster)
		host   string
		want   []string // titles of the host's steps
	}{
		"slots and more": {func(c *plan.Cluster) {
			c.Hosts[1].Work.Slots, c.Hosts[1].Work.Image = 2, "pytorch"
		}, "gpu2", []string{
			"let the worker finish what runs: run-1/1, run-1/2, run-1/3 and 1 more",
			"restart the worker, 2 slots (image python:3.12-slim -> pytorch; slots 4 -> 2; " +
				"processes 10240 -> 6144)",
			"set the worker's slots 4 -> 2; what runs goes on"}},
		"at once": {func(c *plan.Cluster) { c.Hosts[1].Work.Image, c.Now = "pytorch", true },
			"gpu2",
			[]string{"restart the worker, 4 slots (image python:3.12-slim -> pytorch), which stops " +
				"run-1/1, run-1/2, run-1/3 and 1 more"}},
		"folders and variables": {func(c *plan.Cluster) {
			c.Project.Volumes = []string{"/data:/data"}
			c.Hosts[1].Work.Environment = []config.Pair{{Name: "TOKEN", Value: "private"}}
		}, "gpu2", []string{"restart the worker, 4 slots (variable TOKEN; volume +/data:/data; " +
			"volume -/data:/data:ro)"}},
		"memory": {func(c *plan.Cluster) { c.Project.Memory, c.Project.Shm = 1<<30, 1<<30 }, "gpu2",
			[]string{"restart the worker, 4 slots (memory 15.2 GB -> 4.0 GB; shm 8.0 GB -> 1.0 GB)"}},
		"another program": {func(c *plan.Cluster) { c.Sweepd["amd64"] = "new" }, "gpu1",
			[]string{"restart the master (program)", "restart the monitor (program)"}},
		"a port": {func(c *plan.Cluster) { c.BrokerPort = 6000 }, "gpu1",
			[]string{"restart the broker (port 5671 -> 6000)"}},
		"removed": {func(c *plan.Cluster) { c.Hosts[1].Work, c.Now = nil, true }, "gpu2",
			[]string{"remove the worker, which stops run-1/1, run-1/2, run-1/3 and 1 more"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld("gpu1", "gpu2")
			w.run(t, wanted("gpu1", "gpu2"))
			f := w.found["gpu2"]
			f.Running = []string{"run-1/1", "run-1/2", "run-1/3", "run-1/4"}
			w.found["gpu2"] = f
			cluster := wanted("gpu1", "gpu2")
			c.change(&cluster)
			var titles []string
			for _, s := range w.plan(cluster).Steps {
				if s.Host == c.host {
					titles = append(titles, s.Title)
				}
			}
			all := strings.Join(titles, "\n") + "\n"
			for _, want := range c.want {
				if !strings.Contains(all, want+"\n") {
					t.Errorf("%q is not among\n%s", want, all)
				}
			}
		})
	}
}
