package worker_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/task"
	"mlframework/sweep/worker"
	"mlframework/sweep/worker/process"
)

// since, in a bubble, runs a change and returns the events that it brought.
func (s *site) since(change func()) []task.Event {
	const gathered = 100 * time.Millisecond // under load events are gathered
	time.Sleep(gathered)
	before := len(s.soFar())
	change()
	time.Sleep(gathered)
	return s.soFar()[before:]
}

func TestRedeliveredAttemptIsReportedAgain(t *testing.T) {
	program := func(ctx context.Context, spec process.Spec) process.Exit {
		fmt.Fprintln(spec.Stdout, `{"metrics": {"loss": 1}}`)
		select {
		case <-time.After(time.Minute):
		case <-ctx.Done():
		}
		return process.Exit{Cause: process.Signalled, Code: -1, Signal: 9, Duration: time.Minute}
	}
	bubble(t, program, func(t *testing.T, s *site) {
		b := batch("", 0, 1, 2)
		s.send(b)
		synctest.Wait()
		s.tell(stopOf(2)) // given back
		time.Sleep(time.Second)
		started := s.seen(task.StartedEvent, 0, 1)
		time.Sleep(time.Second)
		got := s.since(func() { s.send(b) })
		if diff := cmp.Diff([]string{"started 0/1", "claimed 1/1", "returned 2/1"},
			kinds(got)); diff != "" {
			t.Fatal(diff)
		}
		if diff := cmp.Diff(started, got[0]); diff != "" {
			t.Error(diff)
		}
		time.Sleep(5 * time.Minute)
		first := s.seen(task.EndedEvent, 0, 1)
		got = s.since(func() { s.send(b) })
		if diff := cmp.Diff([]string{"ended 0/1", "ended 1/1", "returned 2/1"},
			kinds(got)); diff != "" {
			t.Fatal(diff)
		}
		if diff := cmp.Diff(first, got[0]); diff != "" {
			t.Error(diff)
		}
	})
}

func TestForgottenOutcomeIsReportedLost(t *testing.T) {
	bubble(t, func(context.Context, process.Spec) process.Exit { return process.Exit{} },
		func(t *testing.T, s *site) {
			b := batch("")
			for i := range int64(worker.MaxOutcomes + 1) {
				b.Attempts = append(b.Attempts, task.Attempt{Index: i, Number: 1})
			}
			s.send(b)
			s.ended(worker.MaxOutcomes, 1)
			got := s.since(func() { s.send(batch("", 0, 1)) })
			if diff := cmp.Diff([]string{"ended 0/1", "ended 1/1"}, kinds(got)); diff != "" {
				t.Fatal(diff)
			}
			want := &task.Outcome{Class: task.Loss, Reason: "its result was lost with the broker"}
			if diff := cmp.Diff(want, got[0].Outcome); diff != "" {
				t.Error(diff)
			}
			if got[1].Outcome.Class != task.Success {
				t.Errorf("%+v", got[1].Outcome)
			}
		})
}

// Outcomes with a thousand metrics each are remembered for fewer attempts.
func TestRememberedOutcomesAreBounded(t *testing.T) {
	program := func(_ context.Context, spec process.Spec) process.Exit {
		for n := range 1000 {
			fmt.Fprintf(spec.Stdout, `{"metrics": {"a long name of a metric %d": 1}}`+"\n", n)
		}
		return process.Exit{}
	}
	bubble(t, program, func(t *testing.T, s *site) {
		const n = 60
		for i := range int64(n) {
			s.send(batch("", i))
		}
		s.ended(n-1, 1)
		got := s.since(func() { s.send(batch("", 0, n-1)) })
		if len(got) != 2 || got[0].Outcome.Class != task.Loss ||
			got[1].Outcome.Class != task.Success || len(got[1].Outcome.Metrics) != 1000 {
			t.Errorf("%v", kinds(got))
		}
	})
}

// A worker that was cut off may get the next attempt of a task that it still runs: the first is
// stopped, and the second begins when the first has gone out of their folder.
func TestAttemptsOfOneTaskNeverRunAtOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	first := batch(`[ $ATTEMPT = 1 ] || exec cat both
		trap 'sleep 0.2; echo first ended >> both; exit 1' TERM; echo ready
		while true; do sleep 0.01; done`, 0)
	first.Recipe.Grace = 10 * time.Second
	s.send(first)
	s.seen(task.StartedEvent, 0, 1)
	for end := time.Now().Add(10 * time.Second); s.file(0,
		"stdout.log") != "ready\n"; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the first is not ready")
		}
	}
	second := first
	second.Attempts = []task.Attempt{{Index: 0, Number: 2}}
	s.send(second)
	if o := s.ended(0, 1); o.Class != task.Stopped {
		t.Errorf("the first ended %+v", o)
	}
	if o := s.ended(0, 2); o.Class != task.Success || s.file(0, "stdout.log") != "first ended\n" {
		t.Errorf("the second ended %+v and saw %q", o, s.file(0, "stdout.log"))
	}
}
