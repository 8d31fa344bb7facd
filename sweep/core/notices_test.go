package core_test

import (
	"strings"
	"testing"
	"time"

	"mlframework/sweep/core"
	"mlframework/sweep/task"
)

// What is told of a sweep, by how it stands step by step.
func TestNotices(t *testing.T) {
	t.Parallel()
	run := func(succeeded, failed int64) core.Head {
		h := core.Head{State: core.Open, Total: 100}
		h.Rows[task.Succeeded], h.Rows[task.Failed], h.Rows[task.Running] = succeeded, failed, 1
		return h
	}
	ended := func(state core.State, succeeded, failed int64) core.Head {
		h := run(succeeded, failed)
		h.State, h.Ended, h.Rows[task.Running] = state, at(9), 0
		return h
	}
	paused := func(reason string, running int64) core.Head {
		h := run(1, 1)
		h.State, h.Reason, h.Rows[task.Running] = core.Paused, reason, running
		return h
	}
	forgiven := func(h core.Head, failures int64) core.Head {
		h.IgnoredFailures = failures
		return h
	}
	const tooMany, full = "1 task failed, and max-failures is 1", task.NoSpaceReason + " (/)"
	for name, c := range map[string]struct {
		steps []core.Head
		want  string
	}{
		"it runs":         {[]core.Head{run(1, 0), run(2, 2)}, ""},
		"finished":        {[]core.Head{run(1, 0), ended(core.Finished, 2, 0)}, "ended"},
		"cancelled":       {[]core.Head{run(1, 0), ended(core.Cancelled, 1, 0)}, "ended"},
		"being cancelled": {[]core.Head{run(1, 0), {State: core.Cancelled}}, ""},
		"it stays so": {[]core.Head{ended(core.Finished, 2, 0), ended(core.Finished, 2, 0)},
			"ended"},
		"three failed":        {[]core.Head{run(0, 2), run(0, 3)}, "failures"},
		"three of six":        {[]core.Head{run(3, 2), run(3, 3)}, "failures"},
		"three of seven":      {[]core.Head{run(4, 2), run(4, 3)}, ""},
		"at last half":        {[]core.Head{run(5, 4), run(5, 5)}, "failures"},
		"once":                {[]core.Head{run(0, 3), run(4, 3), run(4, 4)}, "failures"},
		"failures at the end": {[]core.Head{run(0, 2), ended(core.Finished, 0, 3)}, "ended"},
		"failures, then the end": {[]core.Head{run(0, 3), ended(core.Finished, 1, 3)},
			"failures ended"},
		"max-failures":            {[]core.Head{run(1, 0), paused(tooMany, 0)}, "ended"},
		"max-failures, one runs":  {[]core.Head{run(1, 0), paused(tooMany, 1)}, ""},
		"max-failures, then over": {[]core.Head{paused(tooMany, 1), paused(tooMany, 0)}, "ended"},
		"failed alike": {[]core.Head{run(0, 1),
			paused(core.FailedAlike+": 3 x error: exit code 1", 0)}, "ended"},
		"a full disk":        {[]core.Head{run(1, 0), paused(full, 0)}, "ended"},
		"paused by a person": {[]core.Head{run(1, 0), paused("paused by a person", 0)}, ""},
		"killed":             {[]core.Head{run(1, 0), paused("its run was killed", 0)}, ""},
		"max-failures, and a kill": {[]core.Head{paused(tooMany, 1),
			paused("its run was killed", 0)}, ""},
		"paused, then cancelled": {[]core.Head{paused("interrupted", 0),
			ended(core.Cancelled, 1, 1)}, "ended"},
		"resumed after its end": {[]core.Head{paused(tooMany, 0), run(1, 1)}, ""},
		"ended again": {[]core.Head{paused(tooMany, 0), run(1, 1), ended(core.Finished, 2, 1)},
			"ended"},
		"failures of before": {[]core.Head{run(0, 3), ended(core.Finished, 0, 3),
			forgiven(run(0, 3), 3)}, ""},
		"failures anew": {[]core.Head{ended(core.Finished, 0, 3), forgiven(run(0, 3), 3),
			forgiven(run(0, 6), 3)}, "failures"},
		"paused and let go on": {[]core.Head{run(0, 3), paused("interrupted", 0), run(0, 3)},
			"failures"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var all []core.Notice
			was := core.Head{State: core.Open}
			for i, now := range c.steps {
				all = core.NextNotices(all, was, now, at(float64(i)))
				was = now
				for j := range all {
					all[j].Sent = at(99)
				}
			}
			var got []string
			for _, n := range all {
				got = append(got, n.Event)
			}
			if text := strings.Join(got, " "); text != c.want {
				t.Errorf("it is told %q, want %q", text, c.want)
			}
		})
	}
}

// A notice that is still to be sent when its sweep goes on is not lost.
func TestPendingNoticesStay(t *testing.T) {
	t.Parallel()
	end := core.Head{State: core.Finished, Ended: at(1)}
	sent := core.Notice{Event: core.FailuresNotice, Time: at(0), Sent: at(1)}
	unsent := core.Notice{Event: core.EndedNotice, Time: at(1)}
	all := core.NextNotices([]core.Notice{sent, unsent}, end, core.Head{State: core.Open},
		time.Time{})
	if len(all) != 1 || all[0] != unsent {
		t.Errorf("%+v", all)
	}
}
