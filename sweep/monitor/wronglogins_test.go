package monitor_test

import (
	"testing"
	"time"

	"mlframework/sweep/monitor"
)

// Of wrong logins one line is logged in a minute, with the number of those between.
func TestWrongLoginsAreLoggedOnceAMinute(t *testing.T) {
	t.Parallel()
	var l monitor.WrongLogins
	begin := time.Unix(1e9, 0)
	for _, c := range []struct {
		after  time.Duration
		due    bool
		others int
	}{{0, true, 0}, {time.Second, false, 0}, {59 * time.Second, false, 0}, {time.Minute, true, 2},
		{10 * time.Minute, true, 0}} {
		if due, others := l.Note(begin.Add(c.after)); due != c.due || others != c.others {
			t.Errorf("after %v: due %v, %d others", c.after, due, others)
		}
	}
}
