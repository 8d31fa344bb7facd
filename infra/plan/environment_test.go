package plan_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/config"
	"mlframework/infra/docker"
	"mlframework/infra/plan"
)

// made is what the worker of gpu2 of a planned cluster is told of its container.
func made(t *testing.T, c plan.Cluster) (plan.Environment, docker.Spec) {
	t.Helper()
	for _, s := range newWorld("gpu1", "gpu2").plan(c).Steps {
		run, is := s.Do.(plan.Run)
		if !is || s.ID != "gpu2/worker" {
			continue
		}
		for i, word := range run.Spec.Command {
			if word == "--environment" {
				e, err := plan.ParseEnvironment(run.Spec.Command[i+1])
				if err != nil {
					t.Fatal(err)
				}
				return e, run.Spec
			}
		}
	}
	t.Fatal("the worker of gpu2 is not told what its container is made of")
	return plan.Environment{}, docker.Spec{}
}

func TestDifferences(t *testing.T) {
	t.Parallel()
	project := plan.Project{Image: "python:3.11-slim", Volumes: []string{"/data:/data:ro", "/x:/x"},
		Shm: 1 << 30}
	for name, c := range map[string]struct {
		before, after func(*plan.Project)
		work          config.HostOptions
		want          []string
	}{
		"nothing": {},
		"files":   {after: func(p *plan.Project) { p.Revision = "another" }},
		"image": {after: func(p *plan.Project) { p.Image = "python:3.12-slim" },
			want: []string{"image: running python:3.11-slim, tasks.yml has python:3.12-slim"}},
		"image of the host": {after: func(p *plan.Project) { p.Image = "python:3.12-slim" },
			work: config.HostOptions{Image: "torch:2"}},
		"image to build": {after: func(p *plan.Project) { p.Image, p.Build = "", "." },
			want: []string{"image: running python:3.11-slim, tasks.yml has the image built from ."}},
		"build to image": {before: func(p *plan.Project) {
			p.Image, p.Build, p.Recipe = "", "docker", "1"
		},
			want: []string{"image: running the image built from docker, tasks.yml has " +
				"python:3.11-slim"}},
		"Dockerfile": {before: func(p *plan.Project) { p.Image, p.Build, p.Recipe = "", ".", "1" },
			after: func(p *plan.Project) { p.Image, p.Build, p.Recipe = "", ".", "2" },
			want: []string{"build: the Dockerfile or a file that it copies has changed since " +
				"the image was built"}},
		"volumes": {after: func(p *plan.Project) {
			p.Volumes = []string{"/data/x:/data/x:ro", "/data:/data:ro"}
		},
			want: []string{"volumes: + /data/x:/data/x:ro, - /x:/x"}},
		"the order of volumes": {after: func(p *plan.Project) {
			p.Volumes = []string{"/x:/x", "/data:/data:ro"}
		}},
		"volumes of the host": {work: config.HostOptions{Volumes: []string{"/scratch:/scratch"}}},
		"container": {after: func(p *plan.Project) {
			p.Shm, p.Memory, p.Pids, p.WritableRoot = 0, 1536<<20, 99, true
		},
			want: []string{"shm: running 1g, tasks.yml has the default",
				"memory: running the default, tasks.yml has 1536m",
				"processes: running the default, tasks.yml has 99",
				"read-only: running true, tasks.yml has false"}},
		"limits of the host": {after: func(p *plan.Project) {
			p.Shm, p.Memory, p.Pids = 0, 1<<30, 99
		},
			work: config.HostOptions{Limits: config.Limits{SharedMemory: 1 << 20,
				Memory: 1 << 31, Processes: 7}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			runs, wants := project, project
			for change, of := range map[*func(*plan.Project)]*plan.Project{&c.before: &runs,
				&c.after: &wants} {
				if *change != nil {
					(*change)(of)
				}
			}
			cluster := wanted("gpu1", "gpu2")
			cluster.Hosts[1].Work, cluster.Project = &c.work, runs
			e, spec := made(t, cluster)
			if diff := cmp.Diff(c.want, wants.Differences(e)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if len(spec.Late) > 0 || strings.Contains(strings.Join(spec.Command, " "), "sha256") {
				t.Errorf("a plan knows no digests: %q", spec.Command)
			}
			// What is reported as a difference is what infrainit changes, and the other way round,
			// but for the order of volumes.
			cluster.Project = wants
			after, changed := made(t, cluster)
			if differs := len(c.want) > 0; differs && changed.Hash() == spec.Hash() {
				t.Error("infrainit would leave the worker as it is")
			}
			if left := wants.Differences(after); len(left) > 0 {
				t.Errorf("after infrainit there is still %q", left)
			}
		})
	}
}

// A report of a later release is read as far as it is known.
func TestParseEnvironment(t *testing.T) {
	t.Parallel()
	if e, err := plan.ParseEnvironment(`{"image":"a","gpus":2}`); err != nil || e.Image != "a" {
		t.Errorf("%+v, %v", e, err)
	}
	if _, err := plan.ParseEnvironment(`image: a`); err == nil {
		t.Error("it is not JSON")
	}
}
