package plan_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mlframework/infra/broker"
	"mlframework/infra/docker"
	"mlframework/infra/host"
	"mlframework/infra/plan"
	"mlframework/infra/probe"
)

var update = flag.Bool("update", false, "write the golden files")

// world is hosts on which plans are carried out in memory: what they start is found by the next.
type world struct {
	found  map[string]plan.Found
	record plan.Record
}

func newWorld(names ...string) *world {
	w := &world{found: map[string]plan.Found{}}
	for _, n := range names {
		w.found[n] = plan.Found{Facts: probe.Facts{
			OS: "linux", Arch: "amd64", User: "anna", UID: 1000, GID: 1000, Groups: map[string]int{"anna": 1000, "lab": 2000},
			Home: "/home/anna", Cores: 4, Memory: 16 << 30, Free: 100 << 30, Root: "/home/anna/ml/c",
		}, Reaches: []string{"gpu1"}}
	}
	return w
}

// wanted is a cluster with its master on the first of the named hosts and workers on the others.
func wanted(names ...string) plan.Cluster {
	c := plan.Cluster{Name: "c", Owner: "anna", Master: names[0], Sweepd: map[string]string{"amd64": "5eed"}, BrokerImage: "rabbitmq:4.2",
		Project: plan.Project{Revision: "0123", Image: "python:3.12-slim", Volumes: []string{"/data:/data:ro"}}, DrainTime: time.Hour}
	for i, n := range names {
		h := plan.Host{Name: n, Address: host.Address{User: "anna", Name: n}}
		if i > 0 {
			h.Work = &plan.Work{}
		}
		c.Hosts = append(c.Hosts, h)
	}
	return c
}

func (w *world) plan(c plan.Cluster) plan.Plan { return plan.Make(c, w.found, w.record) }

// apply does a plan's steps, the first n of them.
func (w *world) apply(t *testing.T, p plan.Plan, n int) {
	t.Helper()
	ended := map[string]bool{}
	for _, s := range p.Steps[:n] {
		for _, need := range s.Needs {
			if !ended[need] {
				t.Fatalf("%s needs %s, which comes later", s.ID, need)
			}
		}
		ended[s.ID] = true
		f := w.found[s.Host]
		switch do := s.Do.(type) {
		case plan.Folders:
			f.Marker = &probe.Marker{Cluster: do.Cluster, Owner: do.Owner}
		case plan.Sweepd:
			f.Binaries = append(f.Binaries, do.Hash)
		case plan.Files:
			f.Revision = do.Revision
		case plan.Image:
			f.Images = append(f.Images, do.Ref)
		case plan.Base:
			f.Images = append(f.Images, do.Ref)
		case plan.Build:
			f.Images = append(f.Images, do.Ref)
		case plan.Ship:
			f.Images = append(f.Images, do.Ref)
		case plan.Network:
			f.Networks = append(f.Networks, do.Name)
		case plan.Volume:
			f.Volumes = append(f.Volumes, do.Name)
		case plan.Run:
			f.Containers = slices.DeleteFunc(slices.Clone(f.Containers), func(o docker.Container) bool { return o.Name == do.Spec.Name })
			f.Containers = append(f.Containers, docker.Container{ID: s.ID, Name: do.Spec.Name, Hash: do.Spec.Hash(), Labels: do.Spec.Labels,
				State: "running", Ports: do.Spec.Ports})
		case plan.Start:
			for i := range f.Containers {
				if f.Containers[i].Name == do.Name {
					f.Containers[i].State = "running"
				}
			}
		case plan.Remove:
			f.Containers = slices.DeleteFunc(slices.Clone(f.Containers), func(o docker.Container) bool { return o.Name == do.Name })
		case plan.Clear:
			f.Networks, f.Images = nil, nil
		case plan.Keep:
			w.record = do.Record
		}
		w.found[s.Host] = f
	}
}

func (w *world) run(t *testing.T, c plan.Cluster) plan.Plan {
	t.Helper()
	p := w.plan(c)
	w.apply(t, p, len(p.Steps))
	return p
}

func TestPlans(t *testing.T) {
	t.Parallel()
	for name, make := range map[string]func(*testing.T) plan.Plan{
		"first": func(t *testing.T) plan.Plan {
			return newWorld("gpu1", "gpu2", "gpu3").run(t, wanted("gpu1", "gpu2", "gpu3"))
		},
		"again": func(t *testing.T) plan.Plan {
			w := newWorld("gpu1", "gpu2", "gpu3")
			w.run(t, wanted("gpu1", "gpu2", "gpu3"))
			return w.plan(wanted("gpu1", "gpu2", "gpu3"))
		},
		"one worker more": func(t *testing.T) plan.Plan {
			w := newWorld("gpu1", "gpu2", "gpu3")
			w.run(t, wanted("gpu1", "gpu2"))
			return w.run(t, wanted("gpu1", "gpu2", "gpu3"))
		},
		"one worker less": func(t *testing.T) plan.Plan {
			w := newWorld("gpu1", "gpu2", "gpu3")
			w.run(t, wanted("gpu1", "gpu2", "gpu3"))
			c := wanted("gpu1", "gpu2", "gpu3")
			c.Hosts[2].Work = nil
			return w.run(t, c)
		},
		"one host less": func(t *testing.T) plan.Plan {
			w := newWorld("gpu1", "gpu2", "gpu3")
			w.run(t, wanted("gpu1", "gpu2", "gpu3"))
			return w.run(t, wanted("gpu1", "gpu2"))
		},
		"a host leaves that is away": func(t *testing.T) plan.Plan {
			w := newWorld("gpu1", "gpu2", "gpu3")
			w.run(t, wanted("gpu1", "gpu2", "gpu3"))
			delete(w.found, "gpu3")
			c := wanted("gpu1", "gpu2")
			c.Away = []string{"gpu3"}
			w.run(t, c)
			return w.run(t, c) // once more
		},
		"a host that was to leave stays": func(t *testing.T) plan.Plan {
			w := newWorld("gpu1", "gpu2", "gpu3")
			w.run(t, wanted("gpu1", "gpu2", "gpu3"))
			gone := w.found["gpu3"]
			delete(w.found, "gpu3")
			c := wanted("gpu1", "gpu2")
			c.Away = []string{"gpu3"}
			w.run(t, c)
			w.found["gpu3"] = gone
			return w.run(t, wanted("gpu1", "gpu2", "gpu3"))
		},
		"a host is given up": func(t *testing.T) plan.Plan {
			w := newWorld("gpu1", "gpu2", "gpu3")
			w.run(t, wanted("gpu1", "gpu2", "gpu3"))
			delete(w.found, "gpu3")
			c := wanted("gpu1", "gpu2")
			c.Away, c.GiveUp = []string{"gpu3"}, true
			return w.run(t, c)
		},
		"another image": func(t *testing.T) plan.Plan {
			w := newWorld("gpu1", "gpu2")
			w.run(t, wanted("gpu1", "gpu2"))
			c := wanted("gpu1", "gpu2")
			c.Project.Image = "pytorch"
			return w.run(t, c)
		},
		"other files": func(t *testing.T) plan.Plan {
			w := newWorld("gpu1", "gpu2")
			w.run(t, wanted("gpu1", "gpu2"))
			c := wanted("gpu1", "gpu2")
			c.Project.Revision = "4567"
			return w.run(t, c)
		},
		"another configuration of the broker": func(t *testing.T) plan.Plan {
			w := newWorld("gpu1", "gpu2")
			steps := w.run(t, wanted("gpu1", "gpu2")).Steps
			at := slices.IndexFunc(steps, func(s plan.Step) bool { return s.ID == "gpu1/"+plan.Broker })
			earlier := steps[at].Do.(plan.Run).Spec
			if earlier.Labels[plan.ConfigLabel] != broker.Version() {
				t.Errorf("the broker's labels are %v", earlier.Labels)
			}
			earlier.Labels = maps.Clone(earlier.Labels)
			earlier.Labels[plan.ConfigLabel] = "an earlier program's"
			for i, o := range w.found["gpu1"].Containers {
				if o.Name == earlier.Name {
					w.found["gpu1"].Containers[i].Hash = earlier.Hash()
				}
			}
			return w.run(t, wanted("gpu1", "gpu2"))
		},
		"a worker joins": func(t *testing.T) plan.Plan {
			w := newWorld("gpu1", "gpu2", "gpu3")
			w.run(t, wanted("gpu1", "gpu2"))
			c := wanted("gpu1", "gpu3")
			c.Adds, c.BrokerImage = true, "another"
			return w.run(t, c)
		},
		"built, with one home": func(t *testing.T) plan.Plan {
			w := newWorld("gpu1", "gpu2", "gpu3")
			f := w.found["gpu3"]
			f.Shares = "gpu2"
			w.found["gpu3"] = f
			c := wanted("gpu1", "gpu2", "gpu3")
			c.Project.Image, c.Project.Build = "", "."
			return w.run(t, c)
		},
		"exposed": func(t *testing.T) plan.Plan {
			w := newWorld("gpu1", "gpu2")
			w.run(t, wanted("gpu1", "gpu2"))
			c := wanted("gpu1", "gpu2")
			c.Exposed = true
			return w.run(t, c)
		},
		"stopped": func(t *testing.T) plan.Plan {
			w := newWorld("gpu1", "gpu2")
			w.run(t, wanted("gpu1", "gpu2"))
			for _, f := range w.found {
				for i := range f.Containers {
					f.Containers[i].State = "exited"
				}
			}
			return w.plan(wanted("gpu1", "gpu2"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var b strings.Builder
			p := make(t)
			if err := p.Detail(&b); err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&b, "changes: %v\nhosts:", p.Changes)
			for _, h := range p.Record.Hosts {
				fmt.Fprintf(&b, " %s (worker: %v)", h.Name, h.Worker)
			}
			golden(t, strings.ReplaceAll(name, " ", "-"), b.String()+"\n")
		})
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got)\n%s", file, diff)
	}
}

// Whatever step a call is killed at, the next one ends where an undisturbed one does, and the one after that has nothing to do.
func TestPlansConverge(t *testing.T) {
	t.Parallel()
	changes := map[string]func() plan.Cluster{
		"first": func() plan.Cluster { return wanted("gpu1", "gpu2", "gpu3") },
		"fewer": func() plan.Cluster { return wanted("gpu1", "gpu2") },
		"others": func() plan.Cluster {
			c := wanted("gpu1", "gpu3")
			c.Project.Image = "x"
			c.Sweepd["amd64"] = "new"
			return c
		},
	}
	for name, to := range changes {
		for _, from := range []string{"", "first"} {
			start := func() *world {
				w := newWorld("gpu1", "gpu2", "gpu3")
				if from != "" {
					w.run(t, changes[from]())
				}
				return w
			}
			steps := len(start().plan(to()).Steps)
			for n := range steps + 1 {
				w := start()
				w.apply(t, w.plan(to()), n)
				w.run(t, to())
				if p := w.plan(to()); p.Changes {
					t.Fatalf("%s after %q, cut after %d steps: there is still something to do: %v", name, from, n, p.Steps)
				}
				running := map[string]int{}
				for h, f := range w.found {
					running[h] = len(f.Containers)
				}
				want := map[string]int{"gpu1": 3}
				for _, h := range []string{"gpu2", "gpu3"} {
					want[h] = 0
					if slices.ContainsFunc(to().Hosts, func(x plan.Host) bool { return x.Name == h }) {
						want[h] = 1
					}
				}
				if !maps.Equal(running, want) {
					t.Fatalf("%s after %q, cut after %d steps: %v run", name, from, n, running)
				}
			}
		}
	}
}

// The monitor has the read-only socket of its master, and nothing of the folder with the other one.
func TestTheMonitorCannotReachTheFullSocket(t *testing.T) {
	t.Parallel()
	for _, group := range []string{"", "lab"} {
		c := wanted("gpu1")
		c.Group = group
		mounts, args := map[string]map[string]string{}, map[string][]string{}
		for _, s := range newWorld("gpu1").plan(c).Steps {
			if run, ok := s.Do.(plan.Run); ok {
				role := strings.TrimPrefix(s.ID, "gpu1/")
				mounts[role], args[role] = map[string]string{}, run.Spec.Command
				for _, m := range run.Spec.Mounts {
					mounts[role][m.At] = m.Bind
				}
			}
		}
		option := func(role, name string) string { return args[role][slices.Index(args[role], name)+1] }
		l := plan.Layout{Root: "/home/anna/ml/c"}
		socket := option("monitor", "--master")
		if socket != option("master", "--read-socket") || socket == option("master", "--socket") {
			t.Errorf("the monitor asks at %s; the master has %v", socket, args["master"])
		}
		if at := filepath.Dir(socket); mounts["monitor"][at] != l.Read() || mounts["master"][at] != l.Read() {
			t.Errorf("%s is %v", at, mounts)
		}
		full := l.Run("c", group, 1000)
		for at, from := range mounts["monitor"] {
			if from != "" && (from == full || strings.HasPrefix(full, from+"/")) {
				t.Errorf("the monitor has %s at %s", from, at)
			}
		}
	}
}
