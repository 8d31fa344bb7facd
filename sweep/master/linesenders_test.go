package master_test

import (
	"testing"

	"mlframework/sweep/core"
	"mlframework/sweep/master"
	"mlframework/sweep/store"
	"mlframework/sweep/task"
)

// Whatever attempts of a task a worker sends lines of, the store is read for it once, until the
// task has another attempt.
func TestLinesOfOtherAttemptsAreNotReadForEach(t *testing.T) {
	t.Parallel()
	var s master.Senders
	for _, name := range []string{"w1", "w2"} {
		s.Register(core.WorkerRecord{Name: name, Host: "host of " + name})
	}
	placements := map[int]string{1: "w2", 2: "w1"} // workers of the attempts of a task
	reads := 0
	shown := func(worker string, attempt int) string {
		t.Helper()
		l := task.Line{Sweep: "s-1", Worker: worker, Attempt: attempt}
		host, ok, err := s.Host(l, func() (store.AttemptWorker, error) {
			reads++
			return store.AttemptWorker{Newest: len(placements), Worker: placements[attempt]}, nil
		})
		if err != nil || ok != (host != "") {
			t.Errorf("%q, %v, %v", host, ok, err)
		}
		return host
	}
	flood := func(wantReads int) {
		t.Helper()
		reads = 0
		for n := range 1000 {
			for _, worker := range []string{"w1", "w2"} {
				if host := shown(worker, n%7); host != "" && n%7 != len(placements) {
					t.Fatalf("a line of attempt %d is shown as from %q", n%7, host)
				}
			}
		}
		if reads > wantReads {
			t.Errorf("the store was read %d times; want at most %d", reads, wantReads)
		}
	}
	flood(2) // with the number of the newest attempt, and with its worker
	if got := shown("w1", 2); got != "host of w1" || shown("w2", 2) != "" {
		t.Errorf("the newest attempt is shown as from %q", got)
	}
	before := s.Refused()
	shown("w2", 2)
	shown("w2", 9)
	shown("w2", 0)
	shown("w2", 1) // it had that
	if n := s.Refused() - before; n != 3 {
		t.Errorf("%d lines were counted as refused", n)
	}
	placements[3] = "w2"
	s.Changed("s-1", core.Task{Attempt: core.Attempt{Number: 3, Worker: "w2"}})
	if got := shown("w2", 3); got != "host of w2" || shown("w1", 2) != "" {
		t.Errorf("the newest attempt is shown as from %q", got)
	}
	flood(0)
	placements[4] = "" // it was given back
	s.Changed("s-1", core.Task{Attempt: core.Attempt{Number: 4}})
	flood(2)
	flood(0)
}
