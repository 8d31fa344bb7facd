package worker_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mlframework/sweep/task"
	"mlframework/sweep/worker"
)

func TestIncarnationsGrowAsTexts(t *testing.T) {
	t.Parallel()
	last, random := "", [4]byte{255}
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.FixedZone("", 7200))
	for _, step := range []time.Duration{0, 1, 10, time.Second, 0, -time.Hour, time.Nanosecond,
		24 * 365 * time.Hour, 0} {
		at = at.Add(step)
		next := worker.Incarnation(at, last, random)
		if next <= last || last != "" && len(next) != len(last) {
			t.Errorf("%s after %s", next, last)
		}
		last = next
		random[0]--
	}
	if got := worker.Incarnation(at, "not one", random); !strings.HasPrefix(got,
		at.UTC().Format("2006-01-02T15:04:05")) {
		t.Errorf("%s", got)
	}
}

func TestIncarnationsGrowWhereTheClockIsSetBack(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "new", "events")
	var s *site
	for range 3 {
		if s == nil {
			s = newSite(t, nil, spool(path))
		} else {
			s.start(s.queue.Worker("w1"))
		}
		s.stop()
	}
	const future = "2999-01-01T00:00:00.000000000Z-r00000000"
	s.must(os.WriteFile(path+".incarnation", []byte(future+"\n"), 0o600))
	s.start(s.queue.Worker("w1"))
	s.stop()
	poll(t, "all events", func() bool { return len(s.all()) == 8 })
	last := ""
	for _, e := range s.all() {
		if e.Kind == task.JoinedEvent && e.Heartbeat.Incarnation <= last {
			t.Errorf("%s after %s", e.Heartbeat.Incarnation, last)
		}
		last = e.Heartbeat.Incarnation
	}
	if last <= future {
		t.Errorf("%s after %s", last, future)
	}
}
