package plan_test

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

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

	// what tags stand for in their registry now; none: version 1
	registry map[string]string
	local    bool                          // images come from no registry
	pins     layout.Record                 // of the last plan
	learned  map[string]layout.RecordImage // of the images that hosts have got since the last plan

	made      int            // passwords so far: each is its number
	passwords map[string]int // that the master's host keeps, of each user of the broker
	files     map[string]int // those that a broker reads when it starts
	broker    map[string]int // those that the broker takes
	login     map[string]int // that each host has for its worker
	master    int            // that the master has

	// Authorities are numbers, too.
	authority int              // that the master's host keeps
	previous  []int            // those that are trusted until a rotation is finished
	signs     int              // whose certificate is in the broker's files
	serves    int              // and in the broker
	trusts    map[string][]int // of each host's worker, and of "master"
	tokens    int              // of the monitor that are written
	opens     int              // those that open the monitor that runs

	drained map[string]bool // workers that were told to take nothing more
	person  map[string]bool // of those the ones that a person told
}

func newWorld(names ...string) *world {
	w := &world{found: map[string]plan.Found{}, broker: map[string]int{}, login: map[string]int{},
		authority: 1, trusts: map[string][]int{}, registry: map[string]string{},
		drained: map[string]bool{}, person: map[string]bool{}}
	for _, n := range names {
		w.found[n] = plan.Found{Facts: probe.Facts{
			OS: "linux", Arch: "amd64", User: "anna", UID: 1000, GID: 1000,
			Home: "/home/anna", Cores: 4, Memory: 16 << 30, Free: 100 << 30,
			Root: "/home/anna/ml/c",
		}, Reaches: []string{"gpu1"}, Images: map[string]docker.Image{}}
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
	w.look(c)
	w.learned = map[string]layout.RecordImage{}
	named.add(plan.NamedSteps(c, w.found, w.record))
	p := plan.Make(c, w.found, w.record)
	w.pins = p.Record
	return p
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
			w.broker, w.serves = maps.Clone(w.files), w.signs
			f.Logins = do.Logins
		case plan.Rotate:
			w.rotate(do.Logins)
			f.Logins = do.Logins
		case plan.Finish:
			w.previous = nil
		case plan.Restart:
			w.opens = w.tokens
		case plan.Image:
			w.image(&f, do.Ref)
		case plan.Base:
			w.image(&f, do.Ref)
		case plan.Build:
			w.image(&f, do.Ref)
		case plan.Ship:
			w.image(&f, do.Ref)
		case plan.Network:
			f.Networks = append(f.Networks, do.Name)
		case plan.Volume:
			f.Volumes = append(f.Volumes, do.Name)
		case plan.Drain:
			w.drained[do.Worker] = true
		case plan.Reported:
			if !w.person[do.Worker] {
				delete(w.drained, do.Worker)
			}
		case plan.Forget:
			delete(w.drained, do.Worker)
			delete(w.person, do.Worker)
		case plan.Run:
			f.Containers = slices.DeleteFunc(slices.Clone(f.Containers),
				func(o docker.Container) bool { return o.Name == do.Spec.Name })
			switch do.Spec.Labels[plan.RoleLabel] {
			case plan.Broker:
				maps.Copy(w.broker, w.files)
				w.serves = w.signs
			case plan.Monitor:
				w.opens = w.tokens
			}
			f.Images[f.Images[do.Spec.Image].ID] = f.Images[do.Spec.Image]
			f.Containers = append(f.Containers,
				docker.Container{ID: s.ID, Name: do.Spec.Name, Hash: do.Spec.Hash(),
					Labels: do.Spec.Labels,
					State:  "running", Ports: do.Spec.Ports,
					Image: do.Spec.Image, ImageID: f.Images[do.Spec.Image].ID,
					Command: do.Spec.Command, Env: do.Spec.Env,
					Mounts: slices.DeleteFunc(slices.Clone(do.Spec.Mounts),
						func(m docker.Mount) bool { return m.Tmpfs != nil }),
					Devices: do.Spec.Devices,
					Memory:  do.Spec.Memory, Shm: do.Spec.Shm, Pids: do.Spec.Pids})
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
			f.Networks, f.Images = nil, map[string]docker.Image{}
		case plan.Keep:
			w.record = do.Record
			w.record.Images = slices.Clone(do.Record.Images)
			for ref, pin := range w.learned {
				i := slices.IndexFunc(w.record.Images, func(o layout.RecordImage) bool {
					return o.Ref == ref
				})
				if i >= 0 {
					w.record.Images[i] = pin
				} else {
					w.record.Images = append(w.record.Images, pin)
				}
			}
			slices.SortFunc(w.record.Images, func(a, b layout.RecordImage) int {
				return strings.Compare(a.Ref, b.Ref)
			})
		}
		w.found[s.Host] = f
		w.trusted(t, s.ID)
	}
}

// anImage is one as a host has it.
func anImage(ref, version string, local bool) docker.Image {
	i := docker.Image{ID: "id of " + ref + version, Arch: "amd64"}
	if !local {
		i.Digests = []string{docker.AtDigest(ref, "sha256:"+version+"-"+ref)}
	}
	return i
}

// image has a host get an image: the one that is pinned, else what the registry has.
func (w *world) image(f *plan.Found, ref string) {
	own := strings.HasPrefix(ref, "mlframework-")
	i := anImage(ref, cmp.Or(w.registry[ref], "1"), w.local || own)
	pin, is := w.learned[ref]
	if !is {
		pin = w.pins.Image(ref)
	}
	for v := 1; !plan.Pins(pin, i, f.Arch); v++ {
		i = anImage(ref, strconv.Itoa(v), w.local || own)
	}
	f.Images[ref] = i
	if !own {
		pin.Ref = ref
		w.learned[ref] = plan.WithImage(pin, i, f.Arch)
	}
}

// look finds what credentials are outdated, what is to be finished, and who is drained for a
// replacement.
func (w *world) look(c plan.Cluster) {
	for name, f := range w.found {
		f.Outdated, f.NeedsRenewal.Rotation, f.Drained = nil, false,
			w.drained[name] && !w.person[name]
		if w.outdated(w.login[name], "worker-"+name, name) {
			f.Outdated = append(f.Outdated, "worker-"+name)
		}
		if name == c.Master {
			f.NeedsRenewal.Rotation = len(w.previous) > 0
			if w.outdated(w.master, broker.Master, broker.Master) {
				f.Outdated = append(f.Outdated, broker.Master)
			}
		}
		w.found[name] = f
	}
}

func (w *world) outdated(has int, user, who string) bool {
	kept := w.passwords[user]
	return has != 0 && kept != 0 && (has != kept || !slices.Equal(w.trusts[who], w.trust()))
}

// trust are the authorities that are to be trusted.
func (w *world) trust() []int { return append([]int{w.authority}, w.previous...) }

func (w *world) rotate(l plan.Logins) {
	w.previous = w.trust()
	w.authority = w.previous[0] + 1
	w.passwords = map[string]int{}
	for _, user := range l.Users {
		w.made++
		w.passwords[user] = w.made
	}
}

// trusted checks that everybody who has credentials trusts the broker's certificate.
func (w *world) trusted(t *testing.T, step string) {
	t.Helper()
	for who, all := range w.trusts {
		if w.serves != 0 && !slices.Contains(all, w.serves) {
			t.Fatalf("after %s the broker has the certificate %d, and %s trusts %v", step, w.serves,
				who, all)
		}
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
		w.passwords, w.files, w.signs = kept, kept, w.authority
		f.Logins = do.Logins
	case do.For == plan.MonitorToken:
		w.tokens++
	case do.For == broker.Master:
		w.master, w.trusts[broker.Master] = w.passwords[broker.Master], w.trust()
	case is:
		if worker != s.Host || w.passwords[do.For] == 0 {
			t.Fatalf("%s: the credentials of %s, of %v", s.ID, do.For, w.passwords)
		}
		w.login[s.Host], w.trusts[s.Host] = w.passwords[do.For], w.trust()
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
	if d := gocmp.Diff(want, w.broker); d != "" || w.found[c.Master].Logins.Pending {
		t.Fatalf("the broker takes others than those who are there (-want +got):\n%s%+v", d,
			w.found[c.Master].Logins)
	}
	if w.master != w.passwords[broker.Master] || w.serves != w.authority || w.opens != w.tokens {
		t.Fatalf("the master has the password %d of %v, the broker's certificate is of %d and not "+
			"of %d, the monitor takes the tokens %d of %d", w.master, w.passwords, w.serves,
			w.authority, w.opens, w.tokens)
	}
	for _, h := range c.Hosts {
		if all := w.trusts[h.Name]; h.Work != nil && !slices.Equal(all, []int{w.authority}) {
			t.Fatalf("%s trusts %v, and the authority is %d", h.Name, all, w.authority)
		}
	}
}

func (w *world) run(t *testing.T, c plan.Cluster) plan.Plan {
	t.Helper()
	p := w.plan(c)
	w.apply(t, p, len(p.Steps))
	return p
}
