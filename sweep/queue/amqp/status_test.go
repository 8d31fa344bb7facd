package amqp_test

import (
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/queue/amqp"
)

func TestPausesGrowToFiveSeconds(t *testing.T) {
	t.Parallel()
	ms := time.Millisecond
	shortest, longest := amqp.Backoffs(9)
	if diff := cmp.Diff([]time.Duration{25 * ms, 50 * ms, 100 * ms, 200 * ms, 400 * ms, 800 * ms,
		1600 * ms, 2500 * ms, 2500 * ms}, shortest); diff != "" {
		t.Errorf("the shortest pauses differ (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]time.Duration{50 * ms, 100 * ms, 200 * ms, 400 * ms, 800 * ms, 1600 * ms,
		3200 * ms, 5000 * ms, 5000 * ms}, longest); diff != "" {
		t.Errorf("the longest pauses differ (-want +got):\n%s", diff)
	}
}

func TestEachCauseIsLoggedOnceAMinute(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log record
		s := amqp.NewStatusTracker(slog.New(slog.NewTextHandler(&log, nil)))
		begin := time.Now()
		for range 90 { // a minute and a half
			s.Fail("a", "refused")
			s.Fail("b", "refused")
			time.Sleep(time.Second)
		}
		s.Fail("b", "another cause")
		if away, since, reason := s.Status(); !away || !since.Equal(begin) ||
			reason != "broker b: refused" {
			t.Errorf("the status is %v, %v, %q", away, since, reason)
		}
		s.Works("a")
		s.Works("b")
		s.Works("b")
		if away, since, reason := s.Status(); away || !since.Equal(time.Now()) || reason != "" {
			t.Errorf("then the status is %v, %v, %q", away, since, reason)
		}
		for what, want := range map[string]int{"used: refused": 2, "another cause": 1,
			"is reached": 1} {
			if n := strings.Count(log.String(), what); n != want {
				t.Errorf("%q is logged %d times; want %d:\n%s", what, n, want, &log)
			}
		}
	})
}
