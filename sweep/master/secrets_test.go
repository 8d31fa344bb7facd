package master_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/master"
	"mlframework/sweep/secret"
	"mlframework/sweep/task"
)

const secretValue = "recognisable-value"

// keeping gives a master a folder for secrets.
func keeping(folder string) func(*master.Options) {
	return func(o *master.Options) { o.Secrets = folder }
}

func needing(values secret.Values) func(*master.Submission) {
	return func(s *master.Submission) {
		s.Record.Recipe.Secrets = []string{"KEY"}
		s.Secrets = values
	}
}

var values = secret.Values{"KEY": secretValue}

// knowing makes a worker, w1, known that reads batches with secrets.
func (s *site) knowing() *hand {
	s.t.Helper()
	key := secret.NewKey()
	says := knows()
	says.Key = key.Public()
	h := s.newHandThat(says, nil)
	h.key = key
	return h
}

func knows(needs ...task.Need) task.Heartbeat {
	return task.Heartbeat{Version: task.Version, Worker: "w1", Slots: 1, Incarnation: "1",
		Needs: needs}
}

// batchOf is what a worker got of a sweep.
func (h *hand) batchOf(sweep string) task.Batch {
	h.s.t.Helper()
	h.has(1)
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.newest[sweep]
}

// asks says what it needs of a sweep.
func (h *hand) asks(n task.Need) {
	h.s.t.Helper()
	says := knows(n)
	says.Key = h.key.Public()
	h.beat(says)
}

// opened asks for values and opens what comes.
func (h *hand) opened(b task.Batch) (v secret.Values) {
	h.s.t.Helper()
	n := task.Need{Sweep: b.Sweep, Edition: b.Edition}
	h.asks(n)
	h.told("secrets of "+b.Sweep, func(c task.Control) bool {
		if c.Kind != task.SecretsControl || c.Edition != n.Edition {
			return false
		}
		got, err := h.key.Open(c.Secrets, n.About("w1"))
		v = got
		return err == nil
	})
	return v
}

func TestSecretsAreKeptUntilTheSweepEnds(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "secrets")
	s := newSite(t, keeping(folder))
	h := s.knowing()
	again := func(sub *master.Submission) { sub.IdempotencyKey = "k" }
	id := s.submit(1, needing(values), again)
	if twice := s.submit(1, needing(secret.Values{"KEY": "other"}), again); twice != id {
		t.Fatalf("%s and %s", id, twice)
	}
	b := h.batchOf(id)
	if b.Version != task.Version || b.Edition == "" {
		t.Errorf("%+v", b)
	}
	if v := h.opened(b); v["KEY"] != secretValue {
		t.Errorf("it got %v", map[string]string(v))
	}
	if info, err := os.Stat(filepath.Join(folder, id)); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	s.again(keeping(folder))
	h = s.knowing()
	if v := h.opened(b); v["KEY"] != secretValue { // the new master has them
		t.Errorf("it got %v", map[string]string(v))
	}
	g := given{id, b.Attempts[0]}
	h.report(task.ClaimedEvent, g)
	h.report(task.StartedEvent, g)
	h.end(task.Error, g)
	s.becomes(id, core.Finished, "1 failed")
	s.poll("they are gone", func() bool {
		entries, _ := os.ReadDir(folder)
		return len(
			entries) == 0
	}, func() string { return "there" })

	err := s.master.Retry(t.Context(), id, nil, false, api.Continuation{})
	if e, ok := errors.AsType[*core.NoSecrets](err); !ok || !e.Gone {
		t.Errorf("%v", err)
	}
	if s.head(id).State != core.Finished {
		t.Error("it goes on without them")
	}
	if err := s.master.Retry(t.Context(), id, nil, false,
		api.Continuation{Secrets: secret.Values{"KEY": "other-value"}}); err != nil {
		t.Fatal(err)
	}
	h.has(1)
	second := h.batchOf(id)
	if v := h.opened(second); v["KEY"] != "other-value" || second.Edition == b.Edition {
		t.Errorf("it got %v", map[string]string(v))
	}
	if strings.Contains(s.log.String(), secretValue) || strings.Contains(s.log.String(),
		"other-value") {
		t.Error(s.log)
	}
}

func TestASweepWithoutItsSecretsWaitsAndSaysWhy(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "secrets")
	s := newSite(t, keeping(folder))
	h := s.knowing()
	id := s.submit(1, needing(values))
	b := h.batchOf(id)
	s.must(os.Remove(filepath.Join(folder, id)))
	h.asks(task.Need{Sweep: id, Edition: b.Edition})
	h.told("recall", func(c task.Control) bool {
		return c.Kind == task.RecallControl &&
			c.Sweep == id
	})
	h.report(task.ReturnedEvent, given{id, b.Attempts[0]})
	s.becomes(id, core.Paused, "1 pending")
	if why := s.head(id).Reason; !strings.Contains(why, "run-tasks resume "+id) {
		t.Errorf("%q", why)
	}
	s.again(keeping(folder)) // it stays so
	if h := s.head(id); h.State != core.Paused {
		t.Errorf("%+v", h)
	}
	if err := s.master.Resume(t.Context(), id, api.Continuation{Secrets: values}); err != nil {
		t.Fatal(err)
	}
	s.becomes(id, core.Open, "1 pending")
	s.knowing().asks(task.Need{Sweep: "unheard-1"}) // of a sweep that is over
}

// Secrets go to the registered process of a worker that holds attempts of the sweep, as they are
// now, sealed to the key that it registered with; to nobody else. Each process that gets them is an
// audit entry.
func TestForgedHeartbeatGetsNoSecrets(t *testing.T) {
	t.Parallel()
	s := newSite(t, keeping(filepath.Join(t.TempDir(), "secrets")))
	h := s.knowing()
	spyKey := secret.NewKey()
	spySays := task.Heartbeat{Version: task.Version, Worker: "spy", Incarnation: "1",
		Draining: true, Key: spyKey.Public()}
	spy := s.newHandThat(spySays, nil)
	s.stands("spy", core.WorkerDraining)
	id := s.submit(1, needing(values))
	b := h.batchOf(id)
	need := task.Need{Sweep: id, Edition: b.Edition}

	spySays.Needs = []task.Need{need} // it holds nothing
	spy.beat(spySays)
	other := knows(need) // the right worker, and the key of somebody else
	other.Key = spyKey.Public()
	h.beat(other)
	h.asks(task.Need{Sweep: id, Edition: "of before"})
	h.told("recall of other values", func(c task.Control) bool {
		return c.Kind == task.RecallControl && c.Sweep == id
	})

	for range 2 {
		if v := h.opened(b); v["KEY"] != secretValue {
			t.Errorf("the worker itself got %v", map[string]string(v))
		}
	}
	other.Incarnation = "2" // a process that never registered
	h.beat(other)
	spySays.Host = "seen" // all before it is
	spy.beat(spySays)
	s.poll("all is heard", func() bool { return s.worker("spy").Host == "seen" }, func() string {
		return s.worker("spy").Host
	})
	if _, err := s.master.Drain(t.Context(),
		core.DrainWorker{Worker: "spy", Off: true}); err != nil {
		t.Fatal(err)
	}
	spy.told("what comes after", func(c task.Control) bool { return c.Kind == task.DrainControl })
	for name, got := range map[string]*hand{"spy": spy, "w1": h} {
		got.mu.Lock()
		for _, c := range got.controls {
			if _, err := spyKey.Open(c.Secrets, need.About(name)); c.Kind == task.SecretsControl &&
				err == nil {
				t.Errorf("secrets came to %s that the spy can read", name)
			}
		}
		if name == "spy" && slices.ContainsFunc(got.controls, func(c task.Control) bool {
			return c.Kind == task.SecretsControl
		}) {
			t.Error("secrets came to a worker without attempts")
		}
		got.mu.Unlock()
	}
	entries, err := s.store.Audit(t.Context(), id, 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	var released []string
	for _, d := range entries {
		if d.Action == "release-secrets" {
			released = append(released, d.Kind+" "+d.Object+" "+d.Detail+" "+d.Outcome)
		}
	}
	if want := "sweep " + id + " worker=w1 process=1 done"; len(released) != 1 ||
		released[0] != want {
		t.Errorf("the audit has %q; want %q", released, want)
	}
}

func TestSubmissionsWithWrongSecretsAreRefused(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := newSite(t, keeping(filepath.Join(t.TempDir(), "secrets")))
	for want, change := range map[string]func(*master.Submission){
		"train names secrets (KEY): the secret KEY has no value": needing(nil),
		"there is a value of": needing(secret.Values{"KEY": secretValue, "MORE": secretValue}),
		"train names no secrets: there is a value of \"KEY\"": func(sub *master.Submission) {
			sub.Secrets = values
		},
	} {
		var sub master.Submission
		sub.Record = record(t, 1)
		change(&sub)
		if _, err := s.master.Submit(ctx, sub); err == nil || !strings.Contains(err.Error(),
			want) || strings.Contains(err.Error(), secretValue) {
			t.Errorf("%v; want %s", err, want)
		}
	}
	if all, err := s.store.Sweeps(ctx); err != nil || len(all) > 0 {
		t.Errorf("%v, %v", all, err)
	}
}
