package site_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/cmd/internal/cli"
	"mlframework/cmd/internal/site"
	"mlframework/infra/plan"
	"mlframework/sweep/core"
	"mlframework/sweep/definition"
)

// made is a worker that reports what its container was made of.
func made(name string, e plan.Environment) core.Worker {
	w := worker(name, core.WorkerReady)
	w.Made = ptr(e.String())
	return w
}

func TestDrifts(t *testing.T) {
	t.Parallel()
	old := plan.Environment{Image: "python:3.11-slim"}
	now := plan.Environment{Image: "python:3.12-slim", Volumes: []string{"/data:/data:ro"}}
	own := plan.Environment{Volumes: now.Volumes, Own: []string{"image"}}
	away := made("gpu9", old)
	away.State = core.WorkerAway
	silent, foreign := worker("gpu8", core.WorkerReady), worker("gpu7", core.WorkerReady)
	foreign.Made = ptr("started by hand")
	const differs = "image: running python:3.11-slim, tasks.yml has python:3.12-slim; " +
		"volumes: + /data:/data:ro"
	for name, c := range map[string]struct {
		workers []core.Worker
		want    string
	}{
		"none":         {},
		"all are so":   {workers: []core.Worker{made("gpu2", now), made("gpu3", own)}},
		"not compared": {workers: []core.Worker{away, silent, foreign}},
		"all are not": {[]core.Worker{made("gpu2", old), made("gpu3", old)},
			"gpu2, gpu3: " + differs},
		"one is not": {[]core.Worker{made("gpu2", old), made("gpu3", now)},
			"gpu2: " + differs},
		"each another": {[]core.Worker{made("gpu2", old),
			made("gpu3", plan.Environment{Own: []string{"image"}})},
			"gpu2: " + differs + "\n  gpu3: volumes: + /data:/data:ro"},
		"one is not read": {[]core.Worker{foreign, made("gpu2", old)}, "gpu2: " + differs},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := &definition.File{Image: now.Image, Volumes: now.Volumes}
			drifts, err := site.Drifts(t.Context(), t.TempDir(), file, c.workers)
			if err != nil {
				t.Fatal(err)
			}
			err = site.DriftError(drifts, t.TempDir(), "", "nothing was submitted")
			if c.want == "" && err != nil {
				t.Errorf("refused: %v", err)
			}
			if c.want == "" {
				return
			}
			e, refused := errors.AsType[*cli.Error](err)
			if !refused || e.Code != cli.Invalid || !strings.Contains(e.Remedy, "infrainit -f") ||
				!strings.HasSuffix(e.Remedy, "nothing was submitted") {
				t.Fatalf("%#v", err)
			}
			if diff := cmp.Diff("workers do not match tasks.yml: "+c.want,
				e.Err.Error()); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// A Dockerfile that changed counts; the code of the project does not.
func TestDriftOfADockerfile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	drifts := func(workers ...core.Worker) []site.Drift {
		t.Helper()
		all, err := site.Drifts(t.Context(), dir, &definition.File{Build: "."}, workers)
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	write("Dockerfile", "FROM python:3.12\nCOPY needs /\nCOPY . /code\n")
	write("needs", "numpy\n")
	first := drifts(made("gpu2", plan.Environment{Build: "."}))
	if len(first) != 1 || !strings.Contains(first[0].String(),
		"the Dockerfile or a file that it copies") {
		t.Fatalf("%+v", first)
	}
	recipe := site.Recipe(t, dir)
	if got := drifts(made("gpu2", plan.Environment{Build: ".", Recipe: recipe})); len(got) > 0 {
		t.Errorf("%+v", got)
	}
	write("train.py", "print()\n")
	if got := drifts(made("gpu2", plan.Environment{Build: ".", Recipe: recipe})); len(got) > 0 {
		t.Errorf("code changed: %+v", got)
	}
	write("needs", "torch\n")
	if got := drifts(made("gpu2", plan.Environment{Build: ".", Recipe: recipe})); len(got) != 1 {
		t.Errorf("what the Dockerfile copies changed: %+v", got)
	}
}

// check-status lists them, and what it could not compare.
func TestDriftsAreFaults(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	workers := []core.Worker{made("gpu2", plan.Environment{Image: "a"})}
	faults := func(want ...site.Fault) {
		t.Helper()
		if diff := cmp.Diff(want, site.DriftFaults(t.Context(), dir, workers)); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	}
	tasks := func(text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, definition.FileName), []byte(text),
			0o600); err != nil {
			t.Fatal(err)
		}
	}
	faults()
	tasks("image: a\ntasks: {x: {command: [y]}}\n")
	faults()
	tasks("image: b\ntasks: {x: {command: [y]}}\n")
	faults(site.Fault{Host: "gpu2",
		What:   "worker does not match tasks.yml: image: running a, tasks.yml has b",
		Remedy: "run infrainit -f to recreate the worker"})
	tasks("image: b\ntasks: {x: {comand: [y]}}\n")
	if got := site.DriftFaults(t.Context(), dir, workers); len(got) != 1 ||
		!strings.Contains(got[0].What, "comand") {
		t.Errorf("%+v", got)
	}
}

// Workers that were made for one project are made for another by naming that.
func TestDriftFromAnotherProject(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for other, want := range map[string]string{
		dir + "/.":  "run infrainit -f to recreate them; nothing was done",
		t.TempDir(): "infrainit -f -d " + dir + " to recreate them for this one; nothing was done",
	} {
		err := site.DriftError([]site.Drift{{Worker: "gpu2"}}, dir, other, "nothing was done")
		e, refused := errors.AsType[*cli.Error](err)
		if !refused || !strings.HasSuffix(e.Remedy, want) {
			t.Errorf("configured for %s: %#v", other, err)
		}
	}
}
