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

	made      int            // passwords so far: each is its number
	passwords map[string]int // that the master's host keeps, of each user of the broker
	files     map[string]int // those that a broker reads when it starts
	broker    map[string]int // those that the broker takes
	login     map[string]int // that each host has for its worker
}

func newWorld(names ...string) *world {
	w := &world{found: map[string]plan.Found{}, broker: map[string]int{}, login: map[string]int{}}
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
		case plan.Secrets:
			w.write(t, s, &f)
		case plan.Users:
			w.broker = maps.Clone(w.files)
			f.Logins = do.Logins
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
			if do.Spec.Labels[plan.RoleLabel] == plan.Broker {
				maps.Copy(w.broker, w.files)
			}
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

// write writes secrets to a host.
func (w *world) write(t *testing.T, s plan.Step, f *plan.Found) {
	t.Helper()
	do := s.Do.(plan.Secrets)
	worker, is := strings.CutPrefix(do.For, "worker-")
	switch {
	case do.For == plan.Broker:
		kept := map[string]int{}
		for _, user := range do.Logins.Users {
			if kept[user] = w.passwords[user]; kept[user] == 0 {
				w.made++
				kept[user] = w.made
			}
		}
		w.passwords, w.files = kept, kept
		f.Logins = do.Logins
	case is:
		if worker != s.Host || w.passwords[do.For] == 0 {
			t.Fatalf("%s: the credentials of %s, of %v", s.ID, do.For, w.passwords)
		}
		w.login[s.Host] = w.passwords[do.For]
	}
}

// logsIn checks that the broker takes the workers that run, each as its own user, and nobody else but the master.
func (w *world) logsIn(t *testing.T, c plan.Cluster) {
	t.Helper()
	want := map[string]int{broker.Master: w.passwords[broker.Master]}
	for _, h := range c.Hosts {
		if h.Work != nil {
			want[broker.WorkerUser(h.Name)] = w.login[h.Name]
		}
	}
	if d := cmp.Diff(want, w.broker); d != "" || w.found[c.Master].Logins.Pending {
		t.Fatalf("the broker takes others than those who are there (-want +got):\n%s%+v", d, w.found[c.Master].Logins)
	}
}

// earlier makes the cluster one of a release whose workers shared a user.
func (w *world) earlier() {
	w.passwords = map[string]int{broker.Master: 1, broker.Shared: 2}
	w.files, w.broker = maps.Clone(w.passwords), maps.Clone(w.passwords)
	for name, f := range w.found {
		for i, o := range f.Containers {
			o.Hash, o.Labels = "another", maps.Clone(o.Labels)
			delete(o.Labels, plan.LoginLabel)
			f.Containers[i] = o
			if o.Labels[plan.RoleLabel] == plan.Worker {
				w.login[name] = 2
			}
		}
		if len(f.Logins.Users) > 0 {
			f.Logins = plan.Logins{Users: []string{broker.Master, broker.Shared}}
			w.found[name] = f
		}
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
			if _, takes := w.broker[broker.WorkerUser("gpu3")]; takes {
				t.Error("the broker takes a worker that was to leave")
			}
			w.found["gpu3"] = gone
			p := w.run(t, wanted("gpu1", "gpu2", "gpu3"))
			w.logsIn(t, wanted("gpu1", "gpu2", "gpu3"))
			return p
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
		"of an earlier release": func(t *testing.T) plan.Plan {
			w := newWorld("gpu1", "gpu2", "gpu3")
			w.run(t, wanted("gpu1", "gpu2", "gpu3"))
			w.earlier()
			return w.run(t, wanted("gpu1", "gpu2", "gpu3"))
		},
		"of an earlier release, with a host left out": func(t *testing.T) plan.Plan {
			w := newWorld("gpu1", "gpu2", "gpu3")
			w.run(t, wanted("gpu1", "gpu2", "gpu3"))
			w.earlier()
			delete(w.found, "gpu3")
			p := w.run(t, wanted("gpu1", "gpu2"))
			if d := cmp.Diff([]string{broker.Master, broker.Shared, broker.WorkerUser("gpu2")}, slices.Sorted(maps.Keys(w.broker))); d != "" {
				t.Error(d)
			}
			return p
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
		for _, from := range []string{"", "first", "an earlier release"} {
			start := func() *world {
				w := newWorld("gpu1", "gpu2", "gpu3")
				if from != "" {
					w.run(t, changes["first"]())
				}
				if from == "an earlier release" {
					w.earlier()
				}
				return w
			}
			steps := len(start().plan(to()).Steps)
			for n := range steps + 1 {
				w := start()
				w.apply(t, w.plan(to()), n)
				w.run(t, to())
				w.logsIn(t, to())
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
