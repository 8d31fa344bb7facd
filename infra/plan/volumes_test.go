package plan_test

import (
	"slices"
	"strings"
	"testing"

	"mlframework/config"
	"mlframework/infra/plan"
)

// TestVolumesThatShowTheCluster are refused: what is kept from tasks in their worker's folders they
// would reach under another name.
func TestVolumesThatShowTheCluster(t *testing.T) {
	t.Parallel()
	const root = "/home/anna/ml/c"
	for name, c := range map[string]struct {
		volume    string
		real      []string // where links of "/data" and of the volume lead, as the host told it
		realRoot  string
		ofTheHost bool // not in tasks.yml, but the host's own
		shows     string
		noMaster  bool
	}{
		"data":                  {volume: "/scratch:/scratch:ro"},
		"a folder beside":       {volume: "~/ml/c2:/data"},
		"a folder of the home":  {volume: "~/data:/data"},
		"a volume of Docker":    {volume: "home:/home/anna"},
		"itself":                {volume: root + ":/data:ro", shows: root},
		"itself, from the home": {volume: "~/ml/c/:/data", shows: root},
		"in it":                 {volume: "~/ml/c/hosts/gpu1/secrets:/s:ro", shows: root},
		"above it":              {volume: "/home:/home:ro", shows: root},
		"the home":              {volume: "~:/work", shows: root},
		"everything":            {volume: "/:/host:ro", shows: root},
		"of a host":             {volume: "~/ml:/ml", ofTheHost: true, shows: root},
		"by dots":               {volume: "/data/../home/anna:/x", shows: root},
		"by a link": {volume: "/mnt/all:/x", real: []string{"/data", "/home/anna"},
			shows: root},
		"a link elsewhere": {volume: "/mnt/all:/x", real: []string{"/data", "/disk"}},
		"a link of the cluster's": {volume: "/disk:/x", realRoot: "/disk/anna/ml/c",
			shows: "/disk/anna/ml/c"},
		"links that the host hides": {volume: "/mnt/all:/x", real: nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, cluster := newWorld("gpu1", "gpu2"), wanted("gpu1", "gpu2")
			if !c.noMaster {
				cluster.Hosts, cluster.Hosts[0].Work = cluster.Hosts[:1], &config.HostOptions{}
			}
			last := &cluster.Hosts[len(cluster.Hosts)-1]
			if c.ofTheHost {
				last.Work.Volumes = []string{c.volume}
			} else {
				cluster.Project.Volumes = append(cluster.Project.Volumes, c.volume)
			}
			f := w.found[last.Name]
			f.RealRoot, f.RealSources = c.realRoot, c.real
			w.found[last.Name] = f
			var said string
			if all := plan.Check(cluster, w.found); len(all) > 0 {
				said = all.Error()
			}
			want := last.Name + ": its volume " + c.volume +
				" shows tasks the folder of the cluster, " + c.shows + ", with"
			if c.shows == "" && said != "" || c.shows != "" && !strings.HasPrefix(said, want) {
				t.Errorf("it says %q", said)
			}
		})
	}
}

func TestSources(t *testing.T) {
	t.Parallel()
	c := wanted("gpu1", "gpu2")
	c.Hosts[1].Work.Volumes = []string{"~/x:/x", "/y y:/y:ro"}
	if got := c.Sources("gpu2"); !slices.Equal(got, []string{"/data", "~/x", "/y y"}) {
		t.Errorf("%q", got)
	}
	if got := c.Sources("gpu1"); len(got) > 0 {
		t.Errorf("a host without a worker: %q", got)
	}
}

// A host's volume replaces the project's of the same target, before anything is changed.
func TestVolumesOfTheSameTarget(t *testing.T) {
	t.Parallel()
	w, c := newWorld("gpu1", "gpu2", "gpu3"), wanted("gpu1", "gpu2", "gpu3")
	c.Project.Volumes = []string{"/data:/data:ro", "/models:/models"}
	c.Hosts[1].Work.Volumes = []string{"/x:/x", "/ssd/data:/data/"}
	if all := plan.Check(c, w.found); len(all) > 0 {
		t.Error(all)
	}
	w.run(t, c)
	for host, want := range map[string][]string{
		"gpu2": {"/models:/models", "/x:/x", "/ssd/data:/data/"},
		"gpu3": {"/data:/data", "/models:/models"},
	} {
		var got []string
		for _, m := range w.found[host].Containers[0].Mounts {
			if !strings.HasPrefix(m.At, "/mlframework/") {
				got = append(got, m.Bind+":"+m.At)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q", host, got)
		}
	}
}

// A volume that would be where a worker's container has something of its own is refused.
func TestVolumesWhereTheWorkerIs(t *testing.T) {
	t.Parallel()
	w, c := newWorld("gpu1", "gpu2"), wanted("gpu1", "gpu2")
	c.Project.Volumes = nil
	taken := []string{"/tmp/", "/mlframework"}
	for _, s := range w.plan(c).Steps {
		run, is := s.Do.(plan.Run)
		if is && run.Spec.Labels[plan.RoleLabel] == plan.Worker {
			for _, m := range run.Spec.Mounts {
				taken = append(taken, m.At)
			}
		}
	}
	if len(taken) < 10 {
		t.Errorf("%q", taken)
	}
	for _, at := range taken {
		for _, ofTheHost := range []bool{false, true} {
			c, where := wanted("gpu1", "gpu2"), "tasks.yml"
			if ofTheHost {
				c.Hosts[1].Work.Volumes, where = []string{"/x:" + at}, "of this host in cluster.yml"
			} else {
				c.Project.Volumes = []string{"/x:" + at}
			}
			all := plan.Check(c, w.found)
			if len(all) != 1 || !strings.HasPrefix(all[0].What, "its volume /x:"+at+" has the "+
				"target ") ||
				!strings.HasSuffix(all[0].Remedy, where) {
				t.Errorf("%s: %v", at, all)
			}
		}
	}
	c.Project.Volumes = []string{"/x:/tmp/x", "/x:/mlframework2"}
	if all := plan.Check(c, w.found); len(all) > 0 {
		t.Error(all)
	}
}

// TestEveryWorkerConfines looks at all workers that a plan starts, whatever their project relaxes.
func TestEveryWorkerConfines(t *testing.T) {
	t.Parallel()
	c := wanted("gpu1", "gpu2", "gpu3")
	c.Project.WritableRoot = true
	c.Hosts[0].Work = &config.HostOptions{Slots: 3, Image: "another",
		Environment: []config.Pair{{Name: "A", Value: "b"}}}
	workers := 0
	for _, s := range newWorld("gpu1", "gpu2", "gpu3").plan(c).Steps {
		run, is := s.Do.(plan.Run)
		if !is || run.Spec.Labels[plan.RoleLabel] != plan.Worker {
			continue
		}
		workers++
		n := slices.Index(run.Spec.Command, "--confine")
		if n < 0 || strings.HasPrefix(run.Spec.Command[n-1], "--") { // or another's value
			t.Errorf("%s: %q", s.ID, run.Spec.Command)
		}
		secrets := slices.Index(run.Spec.Command, "--secrets-folder")
		if secrets < 0 || strings.HasPrefix(run.Spec.User, "0:") || !run.Spec.NoNewPrivileges ||
			!slices.Equal(run.Spec.DropCaps, []string{"ALL"}) {
			t.Errorf("%s: %+v", s.ID, run.Spec)
		}
	}
	if workers != 3 {
		t.Errorf("%d workers", workers)
	}
}
