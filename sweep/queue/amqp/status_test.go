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

// A cause that most often passes is logged when it has not.
func TestACauseThatPassesIsNotLogged(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		kind  amqp.FaultKind
		tries int // one a second
		want  int
	}{
		"a queue that the master makes soon": {amqp.Unready, 4, 0},
		"a queue that no master makes":       {amqp.Unready, 10, 1},
		"a clash":                            {amqp.Clash, 2, 0},
		"a refusal":                          {amqp.Refused, 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var log record
				s := amqp.NewStatusTracker(slog.New(slog.NewTextHandler(&log, nil)))
				s.Works("b")
				for range 2 { // it is forgotten when the broker was reached in between
					for range c.tries {
						s.FailAs("a", c.kind, "cause")
						time.Sleep(time.Second)
					}
					s.Works("a")
					time.Sleep(2 * time.Minute)
				}
				if n := strings.Count(log.String(), "cause"); n != 2*c.want {
					t.Errorf("it is logged %d times; want %d:\n%s", n, 2*c.want, &log)
				}
			})
		})
	}
}
