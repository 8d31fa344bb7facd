package queuetest

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"mlframework/sweep/task"
)

var deadLetterTests = []contractTest{
	{"a dead letter is delivered with where, why, when and what until it is acknowledged",
		needsDeadLetter, deadUntilAcknowledged},
	{"dead letters go back to where they were", needsDeadLetter, requeued},
	{"a dead letter for a worker that is gone, or that is cut, is not requeued", needsDeadLetter,
		notRequeued},
	{"one that still cannot be read is another dead letter", needsDeadLetter, deadAgain},
	{"depths tell what waits", nil, depths},
}

func encoded(t *testing.T, v any) []byte {
	t.Helper()
	body, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// requeue requeues a dead letter and checks whether that was possible.
func requeue(t *testing.T, f Fixture, l task.DeadLetter, want bool) {
	t.Helper()
	var got bool
	retry(t, func() (err error) { got, err = f.Master.Requeue(t.Context(), &l); return err })
	if got != want {
		t.Errorf("dead letter of %s requeued: %v; want %v", l.Queue, got, want)
	}
}

func deadUntilAcknowledged(t *testing.T, f Fixture) {
	begin := time.Now().Add(-time.Second)
	f.DeadLetter("tasks.w1", []byte("first"), "it is the first")
	held := open(t, f.Master.DeadLetters)
	first := held.next(t).Items[0]
	held.end(t)
	if first.Time.Before(begin) || first.Time.After(time.Now().Add(time.Second)) || first.ID == "" {
		t.Errorf("it is %+v", first)
	}
	want := task.DeadLetter{ID: first.ID, Queue: "tasks.w1", Reason: "it is the first",
		Time: first.Time, Size: 5, Body: []byte("first"), Sender: first.Sender}
	equal(t, first, want)
	s := open(t, f.Master.DeadLetters)
	equal(t, s.take(t, 1), []task.DeadLetter{want})
	f.DeadLetter("events", []byte("second"), "it is the second")
	second := s.take(t, 1)[0]
	if second.Queue != "events" || second.ID == first.ID {
		t.Errorf("then it is %+v", second)
	}
}

func requeued(t *testing.T, f Fixture) {
	p := f.Worker("w1")
	s := open(t, f.Master.DeadLetters)
	f.DeadLetter("tasks.w1", encoded(t, batch("a-1", 0)), "too often")
	requeue(t, f, s.take(t, 1)[0], true)
	f.DeadLetter("events", encoded(t, events("w1", "a-1", 0, 2)), "too often")
	requeue(t, f, s.take(t, 1)[0], true)
	equal(t, open(t, p.Consume).take(t, 1), batches("a-1", 0, 1))
	equal(t, open(t, f.Master.Events).take(t, 2), events("w1", "a-1", 0, 2))
}

func notRequeued(t *testing.T, f Fixture) {
	tasks := open(t, f.Worker("w1").Consume)
	publish(t, f, "w2", batch("a-1", 0))
	remove(t, f, "w2")
	s := open(t, f.Master.DeadLetters)
	for _, from := range []string{"tasks.w2", "elsewhere", ""} {
		requeue(t, f, task.DeadLetter{ID: "1", Queue: from, Size: 2, Body: []byte("{}")}, false)
	}
	f.DeadLetter("tasks.w1", encoded(t, batch("a-1", 0)), "too often")
	l := s.take(t, 1)[0]
	l.Body = l.Body[:5]
	requeue(t, f, l, false)
	publish(t, f, "w1", batch("a-1", 1)) // and nothing else came
	equal(t, tasks.take(t, 1), batches("a-1", 1, 2))
}

func deadAgain(t *testing.T, f Fixture) {
	tasks := open(t, f.Worker("w1").Consume)
	s := open(t, f.Master.DeadLetters)
	f.DeadLetter("tasks.w1", []byte("not a batch"), "unreadable")
	first := s.take(t, 1)[0]
	requeue(t, f, first, true)
	publish(t, f, "w1", batch("a-1", 1)) // what cannot be read holds up nobody
	equal(t, tasks.take(t, 1), batches("a-1", 1, 2))
	second := s.take(t, 1)[0]
	if second.ID == first.ID || second.Queue != "tasks.w1" ||
		string(second.Body) != "not a batch" ||
		second.Reason == "unreadable" || second.Reason == "" {
		t.Errorf("it is dead again as %+v", second)
	}
}

func depths(t *testing.T, f Fixture) {
	f.Worker("w2")
	publish(t, f, "w1", batches("a-1", 0, 3)...)
	emit(t, f.Worker("w1"), task.Event{Version: task.Version, Worker: "w1"})
	got := map[string]int{}
	var names []string
	wait := map[string]int{"tasks.w1": 3, "tasks.w2": 0, "events": 1, "heartbeats": 0, "dead": 0}
	pace := time.NewTicker(5 * time.Millisecond)
	defer pace.Stop()
	for end := time.Now().Add(patience); ; <-pace.C {
		all, err := f.Master.Depths(t.Context(), "w2", "w1", "w9")
		if err != nil {
			t.Fatal(err)
		}
		clear(got)
		names = nil
		for _, d := range all {
			names, got[d.Queue] = append(names, d.Queue), d.Messages
		}
		if fmt.Sprint(got) == fmt.Sprint(wait) || time.Now().After(end) {
			break
		}
	}
	equal(t, got, wait)
	equal(t, names[:2], []string{"tasks.w2", "tasks.w1"})
}
