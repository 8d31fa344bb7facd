package infra_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/infra"
	"mlframework/infra/filesync"
	"mlframework/infra/layout"
	"mlframework/infra/plan"
	"mlframework/projects"
)

// root is the cluster's folder on a host.
func (f *fakeHosts) root(name string) layout.Root {
	return layout.Root(filepath.Join(f.hosts[name].home, "ml/c"))
}

// record reads the record on the master's host.
func (f *fakeHosts) record(master string) layout.Record {
	f.t.Helper()
	text, err := os.ReadFile(f.root(master).Record())
	if err != nil {
		f.t.Fatal(err)
	}
	r, err := layout.ParseRecord(string(text), "record")
	if err != nil {
		f.t.Fatal(err)
	}
	return r
}

func TestUp(t *testing.T) {
	t.Parallel()
	f := newHosts(t, "gpu1", "gpu2", "gpu3")
	if _, err := f.up(f.request("gpu1", "gpu2", "gpu3")); err != nil {
		t.Fatal(err)
	}
	wanted := []string{"gpu1 broker", "gpu1 master", "gpu1 monitor", "gpu2 worker", "gpu3 worker"}
	if diff := cmp.Diff(wanted, f.state("gpu1", "gpu2", "gpu3")); diff != "" {
		t.Error(diff)
	}
	if r := f.record("gpu1"); r.Master != "gpu1" || len(r.Hosts) != 3 {
		t.Errorf("%+v", r)
	}
	for _, private := range []string{f.root("gpu1").Secrets(), f.root("gpu1").Record(),
		filepath.Join(f.root("gpu2").Login("gpu2"), "credentials")} {
		if info, err := os.Stat(private); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", private, info, err)
		}
	}
	marker, err := os.ReadFile(filepath.Join(string(f.root("gpu2")), layout.MarkerFile))
	if m, wrong := layout.ParseMarker(marker); err != nil || wrong != nil || m.Cluster != "c" {
		t.Errorf("%s %v %v", marker, err, wrong)
	}

	t.Run("again", func(t *testing.T) {
		changed := f.hosts["gpu1"].engine.changed() + f.hosts["gpu2"].engine.changed()
		result, err := f.up(f.request("gpu1", "gpu2", "gpu3"))
		if err != nil || result.Plan.Changes {
			t.Errorf("%+v, %v", result.Plan.Steps, err)
		}
		if now := f.hosts["gpu1"].engine.changed() +
			f.hosts["gpu2"].engine.changed(); now != changed {
			t.Errorf("%d requests changed something", now-changed)
		}
	})
	t.Run("from the laptop of another login", func(t *testing.T) {
		r := f.request("gpu1", "gpu2", "gpu3")
		r.Owner = "kai"
		result, err := f.up(r)
		if err != nil || result.Plan.Changes {
			t.Errorf("%+v, %v", result.Plan.Steps, err)
		}
	})
	t.Run("by a program with another schema", func(t *testing.T) {
		changed := f.hosts["gpu1"].engine.changed() + f.hosts["gpu2"].engine.changed()
		r := f.request("gpu1", "gpu2", "gpu3")
		r.Schema = 1
		_, err := f.up(r)
		if p, is := errors.AsType[plan.Problems](err); !is || len(p) != 1 || p[0].Host != "gpu1" ||
			p[0].What != "the store of its cluster c was made by a program before 0.1.0" {
			t.Errorf("%v", err)
		}
		if now := f.hosts["gpu1"].engine.changed() +
			f.hosts["gpu2"].engine.changed(); now != changed || f.record("gpu1").Schema != 0 {
			t.Errorf("%d requests changed something, %+v", now-changed, f.record("gpu1"))
		}
	})
	t.Run("a host leaves", func(t *testing.T) {
		if _, err := f.up(f.request("gpu1", "gpu2")); err != nil {
			t.Fatal(err)
		}
		if left := f.hosts["gpu3"].engine.left(); left != "[] [] []" {
			t.Errorf("left is %s", left)
		}
		if r := f.record("gpu1"); len(r.Hosts) != 2 {
			t.Errorf("%+v", r)
		}
	})
	t.Run("one that is away is not forgotten", func(t *testing.T) {
		f.away["gpu2"] = true
		if _, err := f.up(f.request("gpu1")); err != nil {
			t.Fatal(err)
		}
		if r := f.record("gpu1"); len(r.Hosts) != 2 || !r.Hosts[1].Leaves {
			t.Errorf("%+v", r)
		}
		want := warning{"gpu2", "it is off, or cannot be asked (connect to gpu2: no route to " +
			"host): it gets no tasks now. When it is back, infrainit -f removes its container; " +
			"if it never comes back: infrainit -f --skip-bad"}
		if !slices.Contains(f.told, want) {
			t.Errorf("%q", f.told)
		}
	})
}

func TestADryRunChangesNothing(t *testing.T) {
	t.Parallel()
	f := newHosts(t, "gpu1", "gpu2")
	r := f.request("gpu1", "gpu2")
	var text strings.Builder
	r.DryRun = &text
	r.Project.Revision, r.Files = "0123", &projects.Manifest{}
	for i := range filesync.LargeFiles + 1 {
		r.Files.Entries = append(r.Files.Entries,
			projects.Entry{Path: fmt.Sprint("data/", i), Kind: projects.File})
	}
	if _, err := f.up(r); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text.String(), "start the worker, 1 slot") {
		t.Error(text.String())
	}
	if want := `2001 files with 0.0 MB are new to the hosts; most are in "data" ` +
		`(2001 files, 0.0 MB)`; !slices.Contains(f.warned, want) {
		t.Errorf("%q", f.warned)
	}
	r.DryRun, r.Large = nil, func(*filesync.LargeError) error { return io.EOF } // no
	if _, err := f.up(r); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
	for name, h := range f.hosts {
		_ = os.Remove(f.root(name).Lock()) // it was locked
		_ = os.Remove(filepath.Dir(f.root(name).Lock()))
		items, err := os.ReadDir(h.home)
		if err != nil || len(items) > 0 || h.engine.changed() > 0 {
			t.Errorf("%s: %v, %v, %d changes", name, items, err, h.engine.changed())
		}
	}
}

// What one call made is taken back when it fails, on all hosts.
func TestRollback(t *testing.T) {
	t.Parallel()
	for _, fails := range []struct{ host, role string }{
		{"gpu1", plan.Broker}, {"gpu1", plan.Master}, {"gpu1", plan.Monitor}, {"gpu2", plan.Worker},
	} {
		t.Run(fails.role, func(t *testing.T) {
			t.Parallel()
			f := newHosts(t, "gpu1", "gpu2")
			f.hosts[fails.host].engine.refuses["mlframework-c-"+fails.role] = "no space left on " +
				"device"
			_, err := f.up(f.request("gpu1", "gpu2"))
			var step *infra.StepError
			if !errors.As(err, &step) || step.Host != fails.host ||
				!strings.Contains(err.Error(), "no space left on device") {
				t.Errorf("%v", err)
			}
			for name, h := range f.hosts {
				items, err := os.ReadDir(h.home)
				if err != nil || len(items) > 0 || h.engine.left() != "[] [] []" {
					t.Errorf("left on %s: %v, %v, %s", name, items, err, h.engine.left())
				}
			}
		})
	}
}

func TestAHostThatIsLocked(t *testing.T) {
	t.Parallel()
	f := newHosts(t, "gpu1", "gpu2")
	lock := f.root("gpu2").Lock()
	if err := os.MkdirAll(filepath.Dir(lock), 0o700); err != nil {
		t.Fatal(err)
	}
	held, err := os.Create(lock)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	if err := syscall.Flock(int(held.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	if _, err := held.WriteString("ben@desk, since noon: infrainit\n"); err != nil {
		t.Fatal(err)
	}
	_, err = f.up(f.request("gpu1", "gpu2"))
	var locked *infra.Locked
	if !errors.As(err, &locked) || locked.Host != "gpu2" ||
		locked.Holder != "ben@desk, since noon: infrainit" {
		t.Errorf("%v", err)
	}
	if f.hosts["gpu1"].engine.changed()+f.hosts["gpu2"].engine.changed() > 0 {
		t.Error("something was changed")
	}
	r := f.request("gpu1", "gpu2")
	r.BreakLock = true
	if _, err := f.up(r); err != nil {
		t.Error(err)
	}
}

func TestHostsWithFaults(t *testing.T) {
	t.Parallel()
	f := newHosts(t, "gpu1", "gpu2", "gpu3")
	f.away["gpu3"] = true
	_, err := f.up(f.request("gpu1", "gpu2", "gpu3"))
	var problems plan.Problems
	if !errors.As(err, &problems) || len(problems) != 1 || problems[0].Host != "gpu3" {
		t.Errorf("%v", err)
	}
	r := f.request("gpu1", "gpu2", "gpu3")
	r.SkipBad = true
	result, err := f.up(r)
	if err != nil || len(result.Skipped) != 1 || result.Skipped[0].Host != "gpu3" {
		t.Errorf("%+v, %v", result.Skipped, err)
	}
	if wanted := "gpu2 worker"; len(f.state("gpu2")) != 1 || f.state("gpu2")[0] != wanted {
		t.Error(f.state("gpu2"))
	}
	// One on which the agent cannot run.
	f = newHosts(t, "gpu1", "gpu2")
	cache := filepath.Join(f.hosts["gpu2"].home, ".cache")
	if err := os.WriteFile(cache, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = f.up(f.request("gpu1", "gpu2"))
	if !errors.As(err, &problems) || len(problems) != 1 || problems[0].Host != "gpu2" ||
		!strings.Contains(problems[0].What, "cannot be made") || problems[0].Remedy == "" {
		t.Errorf("%v", err)
	}
	if items, err := os.ReadDir(f.hosts["gpu1"].home); err != nil || len(items) > 0 {
		t.Errorf("left is %v, %v", items, err)
	}
	if err := os.Remove(cache); err != nil {
		t.Fatal(err)
	}
	f.hosts["gpu2"].single = true // one session at a time is enough
	if _, err = f.up(f.request("gpu1", "gpu2")); err != nil {
		t.Errorf("%v", err)
	}
	// Another cluster's folder is refused, and stays as it is.
	f = newHosts(t, "gpu1")
	marker := filepath.Join(string(f.root("gpu1")), layout.MarkerFile)
	if err := errors.Join(os.MkdirAll(filepath.Dir(marker), 0o700),
		os.WriteFile(marker, layout.NewMarker("ben", "d").Encode(), 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := f.up(f.request("gpu1")); err == nil || !strings.Contains(err.Error(),
		"ben's cluster d") {
		t.Errorf("%v", err)
	}
	items, err := os.ReadDir(f.hosts["gpu1"].home)
	if err != nil || len(items) != 1 || items[0].Name() != "ml" {
		t.Errorf("left is %v, %v", items, err)
	}
}

// A host that was away when it left, and that is added again when it is back, takes tasks, and has
// the files of open sweeps by then.
func TestAHostThatIsAddedAgain(t *testing.T) {
	t.Parallel()
	for _, givenUp := range []bool{false, true} {
		f := newHosts(t, "gpu1", "gpu2", "gpu3")
		dir := t.TempDir()
		request := func(text string, names ...string) infra.Request {
			r := f.request(names...)
			r.Files, r.SkipBad = f.project(dir, text), givenUp
			r.Project.Revision = r.Files.Revision()
			return r
		}
		f.drained["gpu3"] = true // as when a call before was cut off
		if _, err := f.up(request("one", "gpu1", "gpu2", "gpu3")); err != nil {
			t.Fatal(err)
		}
		f.away["gpu3"] = true
		r := request("two", "gpu1", "gpu2")
		if _, err := f.up(r); err != nil || !f.drained["gpu3"] {
			t.Fatal(err, f.drained)
		}
		f.open = []string{r.Project.Revision}
		f.resumed = func(worker string) {
			if _, err := os.Stat(filepath.Join(f.root(worker).Releases(), f.open[0])); err != nil {
				t.Errorf("given up: %v: %s takes tasks: %v", givenUp, worker, err)
			}
		}
		delete(f.away, "gpu3")
		_, err := f.up(request("three", "gpu1", "gpu2", "gpu3"))
		if err != nil || f.drained["gpu3"] || len(f.state("gpu3")) != 1 {
			t.Errorf("given up: %v: %v, %v, %v", givenUp, err, f.drained, f.state("gpu3"))
		}
	}
}

// A worker that a person drained stays so whatever is changed, and one that infrainit drained does
// not, also when the call was cut off.
func TestDrainedWorkers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		byPerson, fails, cutOff, deaf bool
		// questions for workers, first of all the one before the plan
		unanswered int
		want       bool
	}{
		"by infrainit":                   {},
		"by infrainit, which fails":      {fails: true},
		"by infrainit, which is cut off": {fails: true, cutOff: true, want: true},
		"by infrainit, whose rollback does not reach the master": {fails: true, deaf: true,
			want: true},
		"by infrainit, with no answer before the plan": {unanswered: 1},
		"by infrainit, which is cut off and has no answer before the plan": {fails: true,
			cutOff: true, unanswered: 1, want: true},
		"by a person": {byPerson: true, want: true},
		"by a person; infrainit has no answer before the plan": {byPerson: true, unanswered: 1,
			want: true},
		"by a person; infrainit fails": {byPerson: true, fails: true, want: true},
		"by a person; infrainit is cut off": {byPerson: true, fails: true, cutOff: true,
			want: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newHosts(t, "gpu1", "gpu2")
			if _, err := f.up(f.request("gpu1", "gpu2")); err != nil {
				t.Fatal(err)
			}
			f.drained["gpu2"], f.person["gpu2"] = c.byPerson, c.byPerson
			f.unanswered, f.deaf = c.unanswered, c.deaf
			const other = "python:3.14-slim"
			f.hosts["gpu2"].engine.put(fakeImage{ref: other, version: "1"})
			r := f.request("gpu1", "gpu2")
			r.Project.Image, r.Now = other, false
			r.Keep = c.cutOff // what was begun stays
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if c.fails {
				f.hosts["gpu2"].engine.stopped = cancel
			}
			result, err := infra.Up(ctx, r, f.options())
			if err == nil {
				result.Cluster.Close()
			}
			if (err != nil) != c.fails || f.drained["gpu2"] != c.want {
				t.Errorf("%v; drained: %v", err, f.drained["gpu2"])
			}
			f.hosts["gpu2"].engine.stopped = nil
			f.unanswered, f.deaf = c.unanswered, false
			if _, err := f.up(r); err != nil || f.drained["gpu2"] != c.byPerson {
				t.Errorf("the next call: %v; drained: %v", err, f.drained["gpu2"])
			}
			const remedy = "`run-tasks workers resume gpu2` has it go on"
			if warned := strings.Contains(strings.Join(f.warned, "\n"),
				remedy); warned != c.byPerson {
				t.Errorf("warnings: %q", f.warned)
			}
		})
	}
}

// Tasks that have not ended would run in another image: that is refused, unless it is forced.
func TestWorkersWithAnotherImage(t *testing.T) {
	t.Parallel()
	f := newHosts(t, "gpu1", "gpu2")
	f.unfinished = []infra.Unfinished{{Sweep: "train-2", Tasks: 14}, {Sweep: "echo-1", Tasks: 1}}
	if _, err := f.up(f.request("gpu1", "gpu2")); err != nil {
		t.Fatal(err)
	}
	const other = "nopy:1"
	f.hosts["gpu2"].engine.put(fakeImage{ref: other, version: "1"})
	changed := f.hosts["gpu2"].engine.changed()
	r := f.request("gpu1", "gpu2")
	r.Project.Image = other
	_, err := f.up(r)
	if want := "14 tasks of train-2 and 1 task of echo-1 have not finished, and would run in " +
		"another image: python:3.12-slim -> nopy:1"; err == nil || err.Error() != want ||
		f.hosts["gpu2"].engine.changed() != changed {
		t.Errorf("%v, not %q", err, want)
	}
	r.Force = true
	if _, err := f.up(r); err != nil {
		t.Error(err)
	}
	if c := f.hosts["gpu2"].engine.container("mlframework-c-worker"); c.Image != other {
		t.Errorf("the worker runs %s", c.Image)
	}
}

// What the worker of a host runs that leaves while it is away is waited for, but not with --now.
func TestAHostThatLeavesWhileItIsAway(t *testing.T) {
	t.Parallel()
	const polls = 5 // until the worker has finished; others than the drain ask for workers, too
	for _, now := range []bool{false, true} {
		f := newHosts(t, "gpu1", "gpu2", "gpu3")
		if _, err := f.up(f.request("gpu1", "gpu2", "gpu3")); err != nil {
			t.Fatal(err)
		}
		f.away["gpu3"], f.silent["gpu3"] = true, polls
		r := f.request("gpu1", "gpu2")
		r.Now = now
		if _, err := f.up(r); err != nil {
			t.Fatal(err)
		}
		if waited := f.silent["gpu3"] == 0; !f.drained["gpu3"] || waited == now {
			t.Errorf("now: %v: drained: %v, waited: %v", now, f.drained["gpu3"], waited)
		}
	}
}

func TestTheClusterOfSomebodyElse(t *testing.T) {
	t.Parallel()
	f := newHosts(t, "gpu1")
	open := func() error {
		_, err := infra.Open(t.Context(), infra.Location{Name: "c", Folder: "ml/c",
			Master: "gpu1", Targets: f.request("gpu1").Targets}, f.options())
		return err
	}
	if err := open(); err == nil || err.Error() !=
		"there is no cluster c on gpu1: infrainit starts one" {
		t.Error(err)
	}
	f.hosts["gpu1"].engine.containers["mlframework-c-master"] = &noted{ID: "1",
		Name: "mlframework-c-master", State: "running", Labels: map[string]string{
			plan.ClusterLabel: "c", plan.OwnerLabel: "ben", plan.RoleLabel: plan.Master}}
	err := open()
	var none *infra.NoCluster
	if !errors.As(err, &none) || none.Owner != "ben" || !strings.Contains(err.Error(), "log in as the user") {
		t.Error(err)
	}
}

// What a host says is bounded.
func TestAHostThatSaysTooMuch(t *testing.T) {
	t.Parallel()
	f := newHosts(t, "gpu1")
	if _, err := f.up(f.request("gpu1")); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(f.root("gpu1").Record(), 1<<30); err != nil {
		t.Fatal(err)
	}
	_, err := f.up(f.request("gpu1"))
	if err == nil || !strings.Contains(err.Error(), "more than 1048576 bytes") {
		t.Errorf("%.200v", err)
	}
}

// Whoever controls the master's host chooses to whom commands connect: hosts that nobody listed
// here are told of.
func TestHostsThatNobodyListed(t *testing.T) {
	t.Parallel()
	f := newHosts(t, "gpu1", "gpu2")
	if _, err := f.up(f.request("gpu1", "gpu2")); err != nil {
		t.Fatal(err)
	}
	told := func() (n int) {
		for _, w := range f.warned {
			if strings.Contains(w, "hosts that are not listed here") && strings.HasSuffix(w,
				": gpu2 (gpu2)") {
				n++
			}
		}
		return n
	}
	location := infra.Location{Name: "c", Folder: "ml/c", Master: "gpu1",
		Targets: f.request("gpu1", "gpu2").Targets}
	look := func() {
		t.Helper()
		c, err := infra.Open(t.Context(), location, f.options())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		for range 2 {
			if _, err := c.Status(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	look()
	if n := told(); n > 0 {
		t.Errorf("listed hosts are told of: %q", f.warned)
	}
	delete(location.Targets, "gpu2")
	look()
	if n := told(); n != 1 {
		t.Errorf("told %d times: %q", n, f.warned)
	}
	if _, err := f.up(f.request("gpu1")); err != nil || told() != 2 {
		t.Errorf("told %d times: %q, %v", told(), f.warned, err)
	}
}

// The name of a host depends on which others are listed. Under another name the same machine would
// be wanted and leave in one call.
func TestAHostThatGetsAnotherName(t *testing.T) {
	t.Parallel()
	for _, joins := range []bool{false, true} {
		f := newHosts(t, "gpu1", "gpu2", "gpu3")
		if _, err := f.up(f.request("gpu1", "gpu2")); err != nil {
			t.Fatal(err)
		}
		record, changes := f.record("gpu1"), f.hosts["gpu2"].engine.changed()
		f.hosts["gpu2.lab"] = f.hosts["gpu2"]
		r := f.request("gpu1", "gpu2.lab", "gpu3")
		r.SkipBad = true
		if joins {
			r.Master = ""
		}
		_, err := f.up(r)
		if err == nil || !strings.Contains(err.Error(),
			"gpu2.lab: it is in the cluster as gpu2 (gpu2)") {
			t.Errorf("joins: %v: %v", joins, err)
		}
		if d := cmp.Diff(record, f.record("gpu1")); d != "" ||
			f.hosts["gpu2"].engine.changed() != changes {
			t.Errorf("joins: %v: something was changed: %s", joins, d)
		}
		if d := cmp.Diff([]string{"gpu2 worker"}, f.state("gpu2", "gpu3")); d != "" {
			t.Errorf("joins: %v: %s", joins, d)
		}
	}
}

// project is a folder with one file.
func (f *fakeHosts) project(dir, text string) *projects.Manifest {
	f.t.Helper()
	err := os.WriteFile(filepath.Join(dir, "train.py"), []byte(text), 0o600)
	if err != nil {
		f.t.Fatal(err)
	}
	m, err := projects.Scan(f.t.Context(), dir, projects.Options{})
	if err != nil {
		f.t.Fatal(err)
	}
	return m
}

// Hosts that are left out, as they are off or their disk is full, do not keep the others from the
// project's files. They get them when they are back.
func TestFilesThatASkippedHostLacks(t *testing.T) {
	t.Parallel()
	f := newHosts(t, "gpu1", "gpu2", "gpu3")
	dir := t.TempDir()
	up := func(text string, skipBad bool) (revision string) {
		t.Helper()
		r := f.request("gpu1", "gpu2", "gpu3")
		r.Files, r.SkipBad = f.project(dir, text), skipBad
		r.Project.Revision = r.Files.Revision()
		f.warned = nil
		if _, err := f.up(r); err != nil {
			t.Fatal(err)
		}
		return r.Project.Revision
	}
	check := func(when, inForce string, lacks ...string) {
		t.Helper()
		c, err := infra.Open(t.Context(), infra.Location{Name: "c", Folder: "ml/c",
			Master: "gpu1", Targets: f.request("gpu1").Targets}, f.options())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if c.CurrentRevision() != inForce {
			t.Errorf("%s: %s is in force, not %s", when, c.CurrentRevision(), inForce)
		}
		for host := range f.hosts {
			_, err := os.Stat(filepath.Join(f.root(host).Releases(), inForce))
			if (err != nil) != slices.Contains(lacks, host) {
				t.Errorf("%s: on %s: %v", when, host, err)
			}
		}
		warned := slices.Contains(f.warned, "it is left out: it does not have the project's new "+
			"files, and gets no tasks that need them until infrainit -f has brought them")
		if warned != (len(lacks) > 0) {
			t.Errorf("%s: warnings: %q", when, f.warned)
		}
	}
	check("at first", up("one", false))
	f.away["gpu3"] = true // to ssh alone: its worker runs on
	check("without a host", up("two", true), "gpu3")
	delete(f.away, "gpu3")
	check("when the host is back", up("two", false))
	df := filepath.Join(f.hosts["gpu3"].home, "bin", "df")
	if err := os.MkdirAll(filepath.Dir(df), 0o700); err != nil {
		t.Fatal(err)
	}
	const full = "#!/bin/sh\necho Filesystem\necho /dev/sda1 1000000 900000 100000 90% /\n"
	if err := os.WriteFile(df, []byte(full), 0o700); err != nil {
		t.Fatal(err)
	}
	check("with a full disk", up("three", false), "gpu3")
	if err := os.Remove(df); err != nil {
		t.Fatal(err)
	}
	check("when there is room", up("three", false))
}

// Who joins does not put files in force that other workers lack, whichever hosts are listed.
func TestFilesOfAHostThatJoins(t *testing.T) {
	t.Parallel()
	f := newHosts(t, "gpu1", "gpu2")
	dir := t.TempDir()
	r := f.request("gpu1", "gpu2")
	r.Files = f.project(dir, "one")
	r.Project.Revision = r.Files.Revision()
	if _, err := f.up(r); err != nil {
		t.Fatal(err)
	}
	join := f.request("gpu1", "gpu2")
	join.Master = "" // its host becomes a worker's
	join.Hosts[0].Work, join.Hosts[1].Work = join.Hosts[1].Work, nil
	join.Files = f.project(dir, "two")
	join.Project.Revision = join.Files.Revision()
	if _, err := f.up(join); err != nil {
		t.Fatal(err)
	}
	c, err := infra.Open(t.Context(), infra.Location{Name: "c", Folder: "ml/c",
		Master: "gpu1", Targets: r.Targets}, f.options())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if c.CurrentRevision() != r.Project.Revision {
		t.Errorf("%s is in force, not %s", c.CurrentRevision(), r.Project.Revision)
	}
}
