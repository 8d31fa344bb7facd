package plan_test

import (
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mlframework/config"
	"mlframework/infra/broker"
	"mlframework/infra/docker"
	"mlframework/infra/host"
	"mlframework/infra/layout"
	"mlframework/infra/plan"
	"mlframework/infra/probe"
)

// world is hosts on which plans are carried out in memory: what they start is found by the next.
type world struct {
	found  map[string]plan.Found
	record layout.Record

	revision string // of the project that the last plan brings

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
			OS: "linux", Arch: "amd64", User: "anna", UID: 1000, GID: 1000,
			Groups: map[string]int{"anna": 1000, "lab": 2000},
			Home:   "/home/anna", Cores: 4, Memory: 16 << 30, Free: 100 << 30,
			Root: "/home/anna/ml/c",
		}, Reaches: []string{"gpu1"}}
	}
	return w
}

// wanted is a cluster with its master on the first of the named hosts and workers on the others.
func wanted(names ...string) plan.Cluster {
	c := plan.Cluster{Name: "c", Owner: "anna", Master: names[0],
		Sweepd: map[string]string{"amd64": "5eed"}, BrokerImage: "rabbitmq:4.2",
		Project: plan.Project{Revision: "0123", Image: "python:3.12-slim",
			Volumes: []string{"/data:/data:ro"}}, DrainTime: time.Hour}
	for i, n := range names {
		h := plan.Host{Name: n, Address: host.Address{User: "anna", Name: n}}
		if i > 0 {
			h.Work = &config.HostOptions{}
		}
		c.Hosts = append(c.Hosts, h)
	}
	return c
}

func (w *world) plan(c plan.Cluster) plan.Plan {
	w.revision = c.Project.Revision
	return plan.Make(c, w.found, w.record)
}

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
			f.Marker = &layout.Marker{Cluster: do.Cluster, Owner: do.Owner}
		case plan.Sweepd:
			f.Binaries = append(f.Binaries, path.Base(path.Dir(do.To)))
		case plan.Files:
			f.Revision = w.revision
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
			f.Containers = slices.DeleteFunc(slices.Clone(f.Containers),
				func(o docker.Container) bool { return o.Name == do.Spec.Name })
			if do.Spec.Labels[plan.RoleLabel] == plan.Broker {
				maps.Copy(w.broker, w.files)
			}
			f.Containers = append(f.Containers,
				docker.Container{ID: s.ID, Name: do.Spec.Name, Hash: do.Spec.Hash(),
					Labels: do.Spec.Labels,
					State:  "running", Ports: do.Spec.Ports,
					Image: do.Spec.Image, Command: do.Spec.Command, Env: do.Spec.Env,
					Mounts: slices.DeleteFunc(slices.Clone(do.Spec.Mounts),
						func(m docker.Mount) bool { return m.Tmpfs != nil }),
					Memory: do.Spec.Memory, Shm: do.Spec.Shm, Pids: do.Spec.Pids})
		case plan.Start:
			for i := range f.Containers {
				if f.Containers[i].Name == do.Name {
					f.Containers[i].State = "running"
				}
			}
		case plan.Remove:
			f.Containers = slices.DeleteFunc(slices.Clone(f.Containers),
				func(o docker.Container) bool { return o.ID == do.ID })
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

// logsIn checks that the broker takes the workers that run, each as its own user, and nobody else
// but the master.
func (w *world) logsIn(t *testing.T, c plan.Cluster) {
	t.Helper()
	want := map[string]int{broker.Master: w.passwords[broker.Master]}
	for _, h := range c.Hosts {
		if h.Work != nil {
			want[broker.WorkerUser(h.Name)] = w.login[h.Name]
		}
	}
	if d := cmp.Diff(want, w.broker); d != "" || w.found[c.Master].Logins.Pending {
		t.Fatalf("the broker takes others than those who are there (-want +got):\n%s%+v", d,
			w.found[c.Master].Logins)
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
