package master_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/master"
	"mlframework/sweep/metric"
	"mlframework/sweep/secret"
)

const day = 24 * time.Hour

// later is a clock that a test moves on.
type later struct{ by atomic.Int64 }

func (l *later) options(o *master.Options) {
	o.Now = func() time.Time { return time.Now().Add(time.Duration(l.by.Load())) }
}

func (l *later) days(n int) { l.by.Add(int64(time.Duration(n) * day)) }

// pausedSince is what the vault has noted of a sweep; zero: nothing.
func pausedSince(folder, id string) (since time.Time) {
	var kept struct {
		Since time.Time `json:"paused_since"`
	}
	text, err := os.ReadFile(filepath.Join(folder, id))
	if err == nil {
		err = json.Unmarshal(text, &kept)
	}
	if err != nil {
		return time.Time{}
	}
	return kept.Since
}

// The values of a sweep that has been paused for 14 days are removed, whoever was master in
// between; resume asks for them, says why, and takes them.
func TestSecretsOfASweepThatIsPausedForLongAreRemoved(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "secrets")
	var clock later
	s := newSite(t, keeping(folder), clock.options)
	// there are no workers: nobody but the clock wakes the master
	id := s.submit(1, needing(values))
	path := filepath.Join(folder, id)
	there := func() bool { _, err := os.Stat(path); return err == nil }
	noted := func(want bool) {
		t.Helper()
		s.poll("the pause is noted", func() bool {
			return pausedSince(folder, id).IsZero() != want
		}, func() string { return "" })
	}
	pause := func() {
		t.Helper()
		if err := s.master.Pause(t.Context(), id, "paused by anna", false); err != nil {
			t.Fatal(err)
		}
		noted(true)
	}
	pause()
	clock.days(13)
	s.again(keeping(folder), clock.options) // its successor counts on
	if !there() {
		t.Fatal("they were removed after 13 days")
	}
	if err := s.master.Resume(t.Context(), id, api.Continuation{}); err != nil {
		t.Fatalf("it does not go on after 13 days: %v", err)
	}
	noted(false)
	pause()
	clock.days(13)
	s.again(keeping(folder), clock.options)
	if !there() {
		t.Fatal("the days before it was resumed were counted")
	}
	s.must(s.master.Reread(t.Context(), id, nil, metric.Objective{}, nil)) // it stays paused
	clock.days(1)
	s.poll("they are removed", func() bool { return !there() }, func() string {
		return "there after 14 days"
	})
	s.poll("it says so", func() bool {
		return strings.Contains(s.head(id).Reason, "removed after 14 days")
	}, func() string { return s.head(id).Reason })
	if h := s.head(id); h.State != core.Paused ||
		!strings.HasPrefix(h.Reason, "paused by anna; ") ||
		!strings.Contains(h.Reason, "run-tasks resume "+id) {
		t.Errorf("%s: %q", h.State, h.Reason)
	}
	err := s.master.Resume(t.Context(), id, api.Continuation{})
	if e, ok := errors.AsType[*core.NoSecrets](err); !ok || !e.Gone ||
		!strings.Contains(err.Error(), "paused for 14 days") {
		t.Errorf("resume without them: %v", err)
	}
	if err := s.master.Resume(t.Context(), id,
		api.Continuation{Secrets: secret.Values{"KEY": "other-value"}}); err != nil {
		t.Fatal(err)
	}
	if v := s.knowing(); v.opened(v.batchOf(id))["KEY"] != "other-value" {
		t.Error("its task does not get them")
	}
	if all := s.audited("remove-secrets"); len(all) != 1 || all[0] != "master sweep "+id+
		" paused for 14 days done" {
		t.Errorf("the audit has %q", all)
	}
}

// A sweep that runs keeps its values, however long.
func TestSecretsOfASweepThatRunsAreKept(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "secrets")
	var clock later
	s := newSite(t, keeping(folder), clock.options)
	running, paused := s.submit(1, needing(values)), s.submit(1, needing(values))
	if err := s.master.Pause(t.Context(), paused, "", false); err != nil {
		t.Fatal(err)
	}
	s.poll("the pause is noted", func() bool { return !pausedSince(folder, paused).IsZero() },
		func() string { return "" })
	clock.days(15)
	gone := func() bool { _, err := os.Stat(filepath.Join(folder, paused)); return err != nil }
	s.poll("the other's are removed", gone, func() string { return "" })
	if _, err := os.Stat(filepath.Join(folder, running)); err != nil {
		t.Error(err)
	}
}
