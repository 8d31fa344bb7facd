package plan_test

import (
	"strings"
	"testing"
	"time"

	"mlframework/config"
	"mlframework/infra/docker"
	"mlframework/infra/layout"
	"mlframework/infra/plan"
)

func TestWhatIsWrongWithHosts(t *testing.T) {
	t.Parallel()
	listens := func(f *plan.Found) { f.Listening = []int{22, 5671} }
	for name, c := range map[string]struct {
		make    func(*plan.Cluster, *plan.Found)
		want    string // "" is nothing
		warning bool
	}{
		"nothing":      {func(*plan.Cluster, *plan.Found) {}, "", false},
		"another port": {func(_ *plan.Cluster, f *plan.Found) { listens(f) }, "", false},
		"system": {func(_ *plan.Cluster, f *plan.Found) { f.OS = "freebsd" },
			"its system is freebsd", false},
		"architecture": {func(_ *plan.Cluster, f *plan.Found) { f.Arch = "riscv64" },
			"there is no sweepd for its architecture, riscv64 (there is: amd64)\n    run " +
				"scripts/install", false},
		"programs": {func(_ *plan.Cluster, f *plan.Found) {
			f.MissingTools = []string{"sha256sum"}
		}, "it lacks sha256sum", false},
		"clock": {func(_ *plan.Cluster, f *plan.Found) { f.ClockSkew = -time.Minute },
			"its clock differs from this machine's by -1m0s", true},
		"full disk": {func(_ *plan.Cluster, f *plan.Found) { f.Free = 12 << 20 },
			"its disk is full: 12 MB are free", false},
		"noexec": {func(_ *plan.Cluster, f *plan.Found) { f.NoExec = true },
			"mounted with noexec", false},
		"unwritable": {func(_ *plan.Cluster, f *plan.Found) { f.Unwritable = "/home" },
			"anna may not write in /home", false},
		"filled": {func(_ *plan.Cluster, f *plan.Found) { f.RootNotEmpty = true },
			"is not empty, and is no cluster's", false},
		"another cluster's folder": {func(_ *plan.Cluster, f *plan.Found) {
			f.Marker = &layout.Marker{Cluster: "d", Owner: "anna"}
		},
			"belongs to anna's cluster d", false},
		"somebody else's cluster": {func(_ *plan.Cluster, f *plan.Found) {
			f.Containers = []docker.Container{{Labels: map[string]string{plan.ClusterLabel: "c",
				plan.OwnerLabel: "ben", plan.RoleLabel: plan.Worker},
				Mounts: []docker.Mount{{Bind: "/home/ben/ml/c/bin"}}}}
		}, "the cluster c there is not in /home/anna/ml/c: it belongs to ben\n" +
			"    choose another name with --name; or log in as the user who set it up (-a " +
			"USER@HOST), with its -r\n", false},
		"port of a program": {func(c *plan.Cluster, f *plan.Found) {
			c.BrokerPort, f.PortOwners = 5671, map[int]string{5671: "nginx (pid 812)"}
			listens(f)
		}, "port 5671 of the broker is taken by nginx (pid 812)\n    choose another with " +
			"--broker-port", false},
		"port of a container": {func(c *plan.Cluster, f *plan.Found) {
			c.BrokerPort, f.Others = 5671, []docker.Container{{Name: "web",
				Ports: []docker.Port{{Port: 5671}}}}
			listens(f)
		}, "port 5671 of the broker is taken by the container web", false},
		"another release": {func(c *plan.Cluster, f *plan.Found) {
			c.Adds = true
			f.Containers = []docker.Container{{Labels: map[string]string{plan.ClusterLabel: "c",
				plan.RoleLabel: plan.Broker, plan.ConfigLabel: "another"},
				Mounts: []docker.Mount{{Bind: "/home/anna/ml/c/broker"}}}}
		}, "its cluster c was set up by another release\n    call infrainit -f of this release",
			false},
		"a volume without a folder": {func(c *plan.Cluster, f *plan.Found) {
			c.Hosts[0].Work = &config.HostOptions{Volumes: []string{"~/nosuch:/nosuch:ro"}}
			f.MissingSources = []string{"/home/anna/nosuch"}
		}, "gpu1: its volume ~/nosuch:/nosuch:ro has no folder: there is no " +
			"/home/anna/nosuch\n    " +
			"make it there (mkdir -p /home/anna/nosuch), or remove it from volumes: " +
			"of this host in cluster.yml\n", false},
		"a volume of tasks.yml without a folder": {func(c *plan.Cluster, f *plan.Found) {
			c.Hosts[0].Work, f.MissingSources = &config.HostOptions{}, []string{"/data"}
		}, "or remove it from volumes: in tasks.yml\n", false},
		"port of nobody that is seen": {func(c *plan.Cluster, f *plan.Found) {
			c.MonitorPort = 5671
			listens(f)
		}, "port 5671 of the monitor is taken\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, cluster := newWorld("gpu1"), wanted("gpu1")
			f := w.found["gpu1"]
			c.make(&cluster, &f)
			w.found["gpu1"] = f
			all := plan.Check(cluster, w.found)
			if c.want == "" {
				if len(all) > 0 {
					t.Error(all)
				}
				return
			}
			if len(all) != 1 || !strings.Contains(all.Error()+"\n", c.want) ||
				all[0].Warning != c.warning {
				t.Errorf("it is %+v, not %q", all, c.want)
			}
		})
	}
}

func TestAMasterElsewhere(t *testing.T) {
	t.Parallel()
	up := newWorld("gpu1", "gpu2", "gpu3")
	p := up.plan(wanted("gpu1", "gpu2"))
	up.apply(t, p, len(p.Steps))
	cleaned := newWorld("gpu1", "gpu2", "gpu3") // of containers, not of volumes
	f := cleaned.found["gpu1"]
	f.Volumes = []string{"mlframework-c-master"}
	cleaned.found["gpu1"] = f
	for name, c := range map[string]struct {
		of     *world
		master string
		old    layout.Record
		sees   []string
		want   string
	}{
		"where it was": {up, "gpu1", up.record, []string{"gpu1", "gpu2"}, ""},
		"elsewhere": {up, "gpu3", layout.Record{}, []string{"gpu1", "gpu2", "gpu3"},
			"gpu1: the master of the cluster c is here, with its sweeps\n    go on with it: name " +
				"this host with -m; or remove the cluster with its sweeps first, with the " +
				"infra-clean of that cluster and --volumes"},
		"its host is not listed": {up, "gpu3", layout.Record{}, []string{"gpu2", "gpu3"},
			"gpu2: its worker belongs to a cluster c whose master is elsewhere"},
		"its store is there": {cleaned, "gpu3", layout.Record{}, []string{"gpu1", "gpu3"},
			"gpu1: the master of the cluster c is here"},
		"nothing of it": {cleaned, "gpu3", layout.Record{}, []string{"gpu2", "gpu3"}, ""},
		"of another user of the host": {up, "gpu1", layout.Record{}, []string{"gpu1"},
			"gpu1: the cluster c runs there, but not from /home/anna/ml/c: it was brought up as " +
				"another user of this host, or with another -r\n    log in as that user (-a " +
				"USER@HOST), or name its -r; or choose another --name"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found := map[string]plan.Found{}
			for _, n := range c.sees {
				found[n] = c.of.found[n]
			}
			said := ""
			if all := plan.CheckMasterHost(wanted(c.master), found, c.old); len(all) > 0 {
				said = all.Error()
			}
			if c.want == "" && said != "" || !strings.HasPrefix(said, c.want) ||
				strings.Count(said, "\n") > 1 {
				t.Errorf("it says %q, not %q", said, c.want)
			}
		})
	}
}

func TestNamesOfOneMachine(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ boots, engines, want string }{
		"two machines":            {"a b", "A B", ""},
		"containers of a machine": {"a a", "A B", ""},
		"clones":                  {"a b", "A A", ""},
		"hosts that tell nothing": {" ", " ", ""},
		"one machine": {"a a", "A A", "gpu2: it is the same machine as gpu1\n" +
			"    list it once (-a): a host has one worker, with as many slots as it can use"},
	} {
		w := newWorld("gpu1", "gpu2")
		for i, n := range []string{"gpu1", "gpu2"} {
			f := w.found[n]
			f.Boot = strings.Split(c.boots, " ")[i]
			f.Engine.ID = strings.Split(c.engines, " ")[i]
			w.found[n] = f
		}
		said := ""
		if all := plan.Check(wanted("gpu1", "gpu2"), w.found); len(all) > 0 {
			said = all.Error()
		}
		if said != c.want {
			t.Errorf("%s: %q", name, said)
		}
	}
}

func TestNamesOfTheRecord(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		hosts string // that are wanted, the master's first
		make  func(*world)
		want  string
	}{
		"as they were": {"gpu1 gpu2", func(*world) {}, ""},
		"a host more":  {"gpu1 gpu2 gpu3", func(*world) {}, ""},
		"the master's": {"big gpu2", func(*world) {},
			"big: it has the master of the cluster c under the name gpu1\n"},
		"the worker runs under another name": {"gpu1 gpu2.lab gpu3", func(w *world) {
			w.found["gpu2.lab"] = w.found["gpu2"]
			delete(w.found, "gpu2") // the name has no address any more
		}, "gpu2.lab: it is in the cluster as gpu2 (anna@gpu2)\n"},
		"its container is gone": {"gpu1 gpu2.lab", func(w *world) {
			f := w.found["gpu2"]
			f.Containers, f.Boot, f.Engine.ID = nil, "a", "A"
			w.found["gpu2"], w.found["gpu2.lab"] = f, f
		}, "gpu2.lab: it is in the cluster as gpu2 (anna@gpu2)\n"},
		"the cluster has forgotten the other": {"gpu1 gpu2.lab", func(w *world) {
			w.found["gpu2.lab"] = w.found["gpu2"]
			delete(w.found, "gpu2")
			w.record.Hosts = w.record.Hosts[:1]
		}, ""},
		"the master's, which is local": {"big gpu2", func(w *world) {
			w.record.Master, w.record.Hosts[0].Name = "local", "local"
		}, "big: it has the master of the cluster c under the name local\n" +
			"    call infrainit on that machine, with -m local\n"},
		"a worker that is local": {"gpu1 gpu2.lab", func(w *world) {
			f := w.found["gpu2"]
			f.Boot, f.Engine.ID = "a", "A"
			w.found["local"], w.found["gpu2.lab"] = f, f
			w.record.Hosts[1].Name, w.record.Hosts[1].Address = "local", "local"
		}, "gpu2.lab: it is in the cluster as local (local)\n" +
			"    call infrainit on that machine, with -w local\n"},
	} {
		w := newWorld("gpu1", "gpu2", "gpu3")
		w.run(t, wanted("gpu1", "gpu2"))
		c.make(w)
		said := ""
		if all := plan.CheckNames(wanted(strings.Fields(c.hosts)...), w.found,
			w.record); len(all) > 0 {
			said = all.Error() + "\n"
		}
		if c.want == "" && said != "" || !strings.HasPrefix(said, c.want) {
			t.Errorf("%s: it says %q, not %q", name, said, c.want)
		}
	}
}
