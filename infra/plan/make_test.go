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
	"mlframework/infra/layout"
	"mlframework/infra/plan"
)

var update = flag.Bool("update", false, "write the golden files")

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
			p := w.run(t, c)
			if _, takes := w.broker[broker.WorkerUser("gpu3")]; takes { // it may come back
				t.Error("the broker takes a worker that was given up")
			}
			return p
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
			at := slices.IndexFunc(steps, func(s plan.Step) bool {
				return s.ID == "gpu1/"+plan.Broker
			})
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
		"one home for all": func(t *testing.T) plan.Plan {
			w := newWorld("gpu1", "gpu2")
			f := w.found["gpu2"]
			f.Shares = "gpu1"
			w.found["gpu2"] = f
			return w.run(t, wanted("gpu1", "gpu2"))
		},
		"exposed": func(t *testing.T) plan.Plan {
			w := newWorld("gpu1", "gpu2")
			w.run(t, wanted("gpu1", "gpu2"))
			c := wanted("gpu1", "gpu2")
			c.Exposed = true
			return w.run(t, c)
		},
		"a certificate of the monitor is renewed": func(t *testing.T) plan.Plan {
			w := newWorld("gpu1", "gpu2")
			c := wanted("gpu1", "gpu2")
			c.Exposed = true
			w.run(t, c)
			f := w.found["gpu1"]
			f.NeedsRenewal.Monitor = true
			w.found["gpu1"] = f
			return w.run(t, c)
		},
		"rotated": func(t *testing.T) plan.Plan {
			w := newWorld("gpu1", "gpu2", "gpu3")
			c := wanted("gpu1", "gpu2", "gpu3")
			c.Exposed = true
			w.run(t, c)
			before := maps.Clone(w.broker)
			c.Rotate = true
			p := w.run(t, c)
			w.logsIn(t, c)
			for user, password := range w.broker {
				if password == before[user] {
					t.Errorf("the password of %s is that of before", user)
				}
			}
			return p
		},
		"rotated, with a host that is away": func(t *testing.T) plan.Plan {
			w := newWorld("gpu1", "gpu2", "gpu3")
			w.run(t, wanted("gpu1", "gpu2", "gpu3"))
			away, before := w.found["gpu3"], w.login["gpu3"]
			delete(w.found, "gpu3")
			trust := w.trusts["gpu3"]
			delete(w.trusts, "gpu3")
			c := wanted("gpu1", "gpu2") // as with --skip-bad
			c.Rotate = true
			if d := cmp.Diff([]string{"gpu3"}, plan.LeftBehind(c, w.found, w.record)); d != "" {
				t.Error(d)
			}
			w.run(t, c)
			if w.broker[broker.WorkerUser("gpu3")] == before {
				t.Error("the broker takes the password of before of a host that is away")
			}
			w.found["gpu3"], w.trusts["gpu3"] = away, trust
			w.serves = 0 // its worker is not trusted to come back before
			p := w.plan(wanted("gpu1", "gpu2", "gpu3"))
			w.apply(t, p, len(p.Steps))
			w.serves = w.signs
			w.logsIn(t, wanted("gpu1", "gpu2", "gpu3"))
			return p
		},
		"a certificate is renewed": func(t *testing.T) plan.Plan {
			w := newWorld("gpu1", "gpu2")
			w.run(t, wanted("gpu1", "gpu2"))
			f := w.found["gpu1"]
			f.NeedsRenewal.Certificate = true
			w.found["gpu1"] = f
			return w.run(t, wanted("gpu1", "gpu2"))
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

// Whatever step a call is killed at, the next one ends where an undisturbed one does, and the one
// after that has nothing to do.
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
		"joined": func() plan.Cluster {
			c := wanted("gpu1", "gpu2", "gpu3")
			c.Project.Image, c.Adds = "x", true
			return c
		},
		"rotated": func() plan.Cluster {
			c := wanted("gpu1", "gpu2", "gpu3")
			c.Rotate = true
			return c
		},
		"other GPUs": func() plan.Cluster {
			c := wanted("gpu1", "gpu2", "gpu3")
			c.Hosts[2].Work.GPUs.Devices = []string{"1"}
			return c
		},
		"rotated, with others": func() plan.Cluster {
			c := wanted("gpu1", "gpu3")
			c.Project.Image, c.BrokerImage, c.Rotate = "x", "rabbitmq:4.3", true
			return c
		},
	}
	for name, to := range changes {
		for _, from := range []string{"", "first", "a person's drain"} {
			if to().Adds && from == "" {
				continue
			}
			start := func() *world {
				w := newWorld("gpu1", "gpu2", "gpu3")
				w.found["gpu3"] = gpuHost(w.found["gpu3"], gpu("a"), gpu("b"))
				if from != "" {
					w.run(t, changes["first"]())
				}
				if from == "a person's drain" {
					w.drained["gpu3"], w.person["gpu3"] = true, true
				}
				return w
			}
			steps := len(start().plan(to()).Steps)
			for n := range steps + 1 {
				w := start()
				w.apply(t, w.plan(to()), n)
				c := to()
				c.Rotate = false // what was begun is finished without being asked for
				w.run(t, c)
				w.logsIn(t, c)
				for _, h := range c.Hosts {
					if w.drained[h.Name] != w.person[h.Name] {
						t.Fatalf("%s after %q, cut after %d steps: %s is drained: %v", name, from,
							n,
							h.Name, w.drained[h.Name])
					}
				}
				if p := w.plan(c); p.Changes {
					t.Fatalf("%s after %q, cut after %d steps: there is still something to do: %v",
						name, from, n, p.Steps)
				}
				running := map[string]int{}
				for h, f := range w.found {
					running[h] = len(f.Containers)
				}
				want := map[string]int{"gpu1": 3}
				for _, h := range []string{"gpu2", "gpu3"} {
					want[h] = 0
					if slices.ContainsFunc(to().Hosts, func(x plan.Host) bool {
						return x.Name == h
					}) {
						want[h] = 1
					}
				}
				if !maps.Equal(running, want) {
					t.Fatalf("%s after %q, cut after %d steps: %v run", name, from, n, running)
				}
				w = start() // all hosts are listed again instead
				w.apply(t, w.plan(to()), n)
				w.run(t, changes["first"]())
				if !maps.Equal(w.drained, w.person) {
					t.Fatalf("%s after %q, cut after %d steps, then all: %v are drained", name,
						from, n,
						w.drained)
				}
			}
		}
	}
}

// A worker takes no tasks before its home folder has the files of open sweeps.
func TestFilesOfOpenSweeps(t *testing.T) {
	t.Parallel()
	leaves := func(w *world, givenUp bool) {
		f := w.found["gpu3"]
		delete(w.found, "gpu3")
		c := wanted("gpu1", "gpu2")
		c.Away, c.GiveUp = []string{"gpu3"}, givenUp
		p := w.plan(c)
		w.apply(t, p, len(p.Steps))
		w.found["gpu3"] = f
	}
	differs := func(w *world) {
		f := w.found["gpu3"]
		f.Containers = slices.Clone(f.Containers)
		f.Containers[0].Hash = "another"
		w.found["gpu3"] = f
	}
	for name, c := range map[string]struct {
		make       func(*world)
		hosts      string
		step, need string // "": nothing is brought
	}{
		"one that stays": {differs, "gpu1 gpu2 gpu3", "", ""},
		"a new one": {func(w *world) {
			w.found["gpu4"] = newWorld("gpu4").found["gpu4"]
		}, "gpu1 gpu2 gpu3 gpu4", "gpu4/worker", "gpu4/open files"},
		"two new ones with one home": {func(w *world) {
			w.found["gpu4"] = newWorld("gpu4").found["gpu4"]
			f := w.found["gpu4"]
			f.Shares = "gpu4"
			w.found["gpu5"] = f
		}, "gpu1 gpu2 gpu3 gpu4 gpu5", "gpu5/worker", "gpu4/open files"},
		"one that left": {func(w *world) { leaves(w, false) },
			"gpu1 gpu2 gpu3", "gpu3/reported", "gpu3/open files"},
		"one that left and is replaced": {func(w *world) { leaves(w, false); differs(w) },
			"gpu1 gpu2 gpu3", "gpu3/worker", "gpu3/open files"},
		"one that was given up": {func(w *world) { leaves(w, true) },
			"gpu1 gpu2 gpu3", "gpu1/users", "gpu3/open files"},
		"one that was given up and is replaced": {func(w *world) { leaves(w, true); differs(w) },
			"gpu1 gpu2 gpu3", "gpu3/login of worker", "gpu3/open files"},
	} {
		w := newWorld("gpu1", "gpu2", "gpu3")
		w.run(t, wanted("gpu1", "gpu2", "gpu3"))
		c.make(w)
		p := w.run(t, wanted(strings.Fields(c.hosts)...))
		after := map[string][]string{} // by step: all that are done before
		brings := ""
		for _, s := range p.Steps {
			for _, need := range s.Needs {
				after[s.ID] = append(append(after[s.ID], need), after[need]...)
			}
			if _, is := s.Do.(plan.Relay); is {
				brings = s.ID
			}
		}
		if brings != c.need || c.need != "" && !slices.Contains(after[c.step], c.need) {
			t.Errorf("%s: files come by %q, and %s is after %v", name, brings, c.step,
				after[c.step])
		}
	}
}

// The project's files come last to the home folder of the master's host, whichever host stands for
// it: what is in force there all have.
func TestTheHomeOfTheMasterGetsFilesLast(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		shares map[string]string
		last   string
	}{
		"homes of their own": {nil, "gpu1/files"},
		"another host's":     {map[string]string{"gpu1": "gpu2"}, "gpu2/files"},
		"the master's":       {map[string]string{"gpu3": "gpu1"}, "gpu1/files"},
	} {
		w := newWorld("gpu1", "gpu2", "gpu3")
		for host, of := range c.shares {
			f := w.found[host]
			f.Shares = of
			w.found[host] = f
		}
		var files, before []string
		for _, s := range w.plan(wanted("gpu1", "gpu2", "gpu3")).Steps {
			if _, is := s.Do.(plan.Files); is && s.ID == c.last {
				before = s.Needs
			} else if is {
				files = append(files, s.ID)
			}
		}
		for _, other := range files {
			if !slices.Contains(before, other) {
				t.Errorf("%s: %s needs %v, and not %s", name, c.last, before, other)
			}
		}
	}
}

// What a host that leaves has of broker, master and monitor goes before its networks and images.
func TestServicesOfAHostThatLeaves(t *testing.T) {
	t.Parallel()
	w := newWorld("gpu1", "gpu2", "gpu3")
	w.run(t, wanted("gpu1", "gpu2", "gpu3"))
	f := w.found["gpu3"]
	var before []string
	for _, role := range []string{plan.Monitor, plan.Master, plan.Broker} {
		f.Containers = append(f.Containers, docker.Container{ID: role, State: "exited",
			Labels: map[string]string{plan.ClusterLabel: "c", plan.RoleLabel: role}})
		before = append(before, "gpu3/remove "+role)
	}
	w.found["gpu3"] = f
	for _, s := range w.run(t, wanted("gpu1", "gpu2")).Steps {
		if _, is := s.Do.(plan.Clear); is {
			if d := cmp.Diff(append([]string{"gpu3/remove worker"}, before...), s.Needs); d != "" {
				t.Error(d)
			}
		}
	}
	if left := w.found["gpu3"].Containers; len(left) > 0 {
		t.Errorf("%+v", left)
	}
}

// The monitor has the socket of its master that is for it, and nothing of the folder with the other one.
func TestTheMonitorCannotReachTheFullSocket(t *testing.T) {
	t.Parallel()
	c := wanted("gpu1")
	c.Lease = 90 * time.Second
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
	option := func(role, name string) string {
		return args[role][slices.Index(args[role], name)+1]
	}
	l := layout.Root("/home/anna/ml/c")
	socket := option("monitor", "--master")
	if socket != option("master", "--monitor-socket") || socket == option("master", "--socket") {
		t.Errorf("the monitor asks at %s; the master has %v", socket, args["master"])
	}
	if lease := option("master", "--lease"); lease != "1m30s" {
		t.Errorf("the master's lease is %s", lease)
	}
	if name := option("monitor", "--cluster"); name != "c" {
		t.Errorf("the monitor's pages are those of %s", name)
	}
	if at := filepath.Dir(socket); mounts["monitor"][at] != l.Read() ||
		mounts["master"][at] != l.Read() {
		t.Errorf("%s is %v", at, mounts)
	}
	full := l.Run()
	for at, from := range mounts["monitor"] {
		if from != "" && (from == full || strings.HasPrefix(full, from+"/")) {
			t.Errorf("the monitor has %s at %s", from, at)
		}
	}
}
