package plan_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"mlframework/infra/docker"
	"mlframework/infra/layout"
	"mlframework/infra/plan"
)

const python = "python:3.12-slim"

// titles are those of the steps that change something, with their hosts.
func titles(p plan.Plan) (all []string) {
	for _, s := range p.Steps {
		switch s.Do.(type) {
		case plan.Image, plan.Run, plan.Keep, plan.Start:
			all = append(all, s.Host+": "+s.Title)
		}
	}
	return all
}

// puts gives hosts another image under the name, as docker pull there would; a worker that runs
// goes on with its own.
func (w *world) puts(version string, local bool, hosts ...string) {
	for _, h := range hosts {
		w.found[h].Images[python] = anImage(python, version, local)
	}
}

// reruns makes the worker of a host of another image.
func (w *world) reruns(version, host string) {
	f := w.found[host]
	i := anImage(python, version, false)
	f.Images[python], f.Images[i.ID] = i, i
	for n := range f.Containers {
		f.Containers[n].ImageID = i.ID
	}
}

// told is an answer of a registry.
func told(ref, version string) map[string]layout.RecordImage {
	return map[string]layout.RecordImage{ref: {Ref: ref, Digest: "sha256:" + version + "-" + ref}}
}

func TestImagesArePinned(t *testing.T) {
	t.Parallel()
	hosts := []string{"gpu1", "gpu2", "gpu3"}
	const record = "gpu1: save the cluster's record"
	replaced := func(host, why string) string {
		return host + ": restart the worker, 4 slots (" + why + ")"
	}
	for name, c := range map[string]struct {
		change func(*world, *plan.Cluster)
		want   []string
	}{
		"nothing has changed": {func(*world, *plan.Cluster) {}, nil},
		"another image under the name": {func(w *world, _ *plan.Cluster) {
			w.puts("2", false, "gpu3")
		}, nil},
		"a container of another image": {func(w *world, _ *plan.Cluster) {
			w.reruns("2", "gpu3")
		}, []string{
			"gpu3: get the image python:3.12-slim (sha256:1-python:3.1) in the place of " +
				"sha256:2-python:3.1",
			replaced("gpu3", "image sha256:2-python:3.1 -> sha256:1-python:3.1"),
			"gpu1: note which images there are"}},
		"one that was stopped, of another image": {func(w *world, _ *plan.Cluster) {
			w.reruns("2", "gpu3")
			for i := range w.found["gpu3"].Containers {
				w.found["gpu3"].Containers[i].State = "exited"
			}
		}, []string{
			"gpu3: get the image python:3.12-slim (sha256:1-python:3.1) in the place of " +
				"sha256:2-python:3.1",
			replaced("gpu3", "image sha256:2-python:3.1 -> sha256:1-python:3.1"),
			"gpu1: note which images there are"}},
		"a container whose image is not known any more": {func(w *world, _ *plan.Cluster) {
			maps.DeleteFunc(w.found["gpu3"].Images, func(string, docker.Image) bool { return true })
		}, nil},
		"tags that stand for the same": {func(w *world, c *plan.Cluster) {
			c.Pull, c.Told = true, told(python, "1")
		}, nil},
		"a tag that stands for another": {func(w *world, c *plan.Cluster) {
			c.Pull, c.Told = true, told(python, "2")
			w.registry[python] = "2"
		}, []string{record,
			"gpu2: get the image python:3.12-slim (sha256:2-python:3.1) in the place of " +
				"sha256:1-python:3.1",
			"gpu3: get the image python:3.12-slim (sha256:2-python:3.1) in the place of " +
				"sha256:1-python:3.1",
			replaced("gpu2", "image sha256:1-python:3.1 -> sha256:2-python:3.1"),
			replaced("gpu3", "image sha256:1-python:3.1 -> sha256:2-python:3.1"),
			"gpu1: note which images there are"}},
		"a tag of which no registry tells": {func(w *world, c *plan.Cluster) {
			c.Pull = true
		}, nil},
		"a host more, that has another": {func(w *world, c *plan.Cluster) {
			more := newWorld("gpu4")
			w.found["gpu4"] = more.found["gpu4"]
			w.puts("2", false, "gpu4")
			*c = wanted("gpu1", "gpu2", "gpu3", "gpu4")
		}, []string{record,
			"gpu4: get the image python:3.12-slim (sha256:1-python:3.1) in the place of " +
				"sha256:2-python:3.1",
			"gpu4: start the worker, 4 slots", "gpu1: note which images there are"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, want := newWorld(hosts...), wanted(hosts...)
			w.run(t, want)
			c.change(w, &want)
			p := w.run(t, want)
			if d := gocmp.Diff(c.want, titles(p)); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
			if p := w.plan(want); p.Changes {
				t.Errorf("there is still something to do: %v", titles(p))
			}
			for _, h := range want.Hosts {
				for _, o := range w.found[h.Name].Containers {
					i, known := w.found[h.Name].Images[o.ImageID]
					if known && o.Image == python && !plan.Pins(w.record.Image(python), i,
						"amd64") {
						t.Errorf("%s runs %s", h.Name, i.ID)
					}
				}
			}
		})
	}
}

// Where nobody tells for what a tag stands, the first host that gets it decides.
func TestTheFirstHostDecides(t *testing.T) {
	t.Parallel()
	for _, local := range []bool{false, true} {
		w, c := newWorld("gpu1", "gpu2", "gpu3"), wanted("gpu1", "gpu2", "gpu3")
		w.local = local
		untold := plan.Untold(c, w.found, w.record)
		want := map[string][]string{"rabbitmq:4.2": {"gpu1"}, python: {"gpu2", "gpu3"}}
		if d := gocmp.Diff(want, untold); d != "" {
			t.Error(d)
		}
		p := w.run(t, c)
		at := slices.IndexFunc(p.Steps, func(s plan.Step) bool {
			return s.ID == "gpu3/image "+python
		})
		if at < 0 || !slices.Contains(p.Steps[at].Needs, "gpu2/image "+python) {
			t.Errorf("%+v", p.Steps)
		}
		pin := w.record.Image(python)
		if (pin.Digest == "") != local || (len(pin.IDs["amd64"]) > 0) != local {
			t.Errorf("local %v: %+v", local, pin)
		}
		if untold := plan.Untold(c, w.found, w.record); len(untold) > 0 {
			t.Error(untold)
		}
		c.Pull = true
		if untold := plan.Untold(c, w.found, w.record); len(untold) != 2 {
			t.Error(untold)
		}
	}
}

// Who joins a cluster has its images, and leaves those of the others in its record.
func TestImagesOfAClusterThatIsJoined(t *testing.T) {
	t.Parallel()
	w := newWorld("gpu1", "gpu2", "gpu3")
	w.run(t, wanted("gpu1", "gpu2"))
	w.registry[python] = "2"
	c := wanted("gpu1", "gpu3")
	c.Adds, c.Hosts[1].Work.Image = true, "pytorch"
	w.run(t, c)
	var refs []string
	for _, i := range w.record.Images {
		refs = append(refs, i.Ref)
	}
	if got := strings.Join(refs, " "); got != "python:3.12-slim pytorch rabbitmq:4.2" {
		t.Error(got)
	}
	c.Hosts[1].Work.Image = ""
	w.run(t, c)
	if i := w.found["gpu3"].Images[python]; i.ID != anImage(python, "1", false).ID {
		t.Errorf("%+v", i)
	}
}
