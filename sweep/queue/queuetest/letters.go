package queuetest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"mlframework/sweep/queue"
	"mlframework/sweep/task"
)

var letterTrials = []trial{
	{"without dead letters none are listed, and none go", letters, noLetters},
	{"dead letters are listed with where, why, when and how they begin, the newest first, and stay", letters, listLetters},
	{"dead letters go back to where they were", letters, requeueLetters},
	{"one dead letter of many is requeued or dropped, and done once", letters, oneLetter},
	{"a dead letter for a worker that is gone stays, and one that still cannot be read dies again", letters, lettersThatStay},
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

// dead waits until so many letters are dead, and lists them.
func dead(t *testing.T, f Fixture, n int) []queue.Letter {
	t.Helper()
	pace := time.NewTicker(5 * time.Millisecond)
	defer pace.Stop()
	var all queue.Dead
	for end := time.Now().Add(patience); ; <-pace.C {
		again(t, func() (err error) { all, err = f.Hub.Dead(t.Context(), 1000); return err })
		if all.Count == n && len(all.Letters) == n && !all.Partly {
			return all.Letters
		}
		if time.Now().After(end) {
			t.Fatalf("%d letters are dead, %d of them listed; want %d", all.Count, len(all.Letters), n)
		}
	}
}

func requeue(t *testing.T, f Fixture, id string, want queue.Requeued) {
	t.Helper()
	got, err := f.Hub.Requeue(t.Context(), id)
	if err != nil || got != want {
		t.Errorf("requeue %q: %+v, %v; want %+v", id, got, err, want)
	}
}

func drop(t *testing.T, f Fixture, id string, want int) {
	t.Helper()
	got, err := f.Hub.Drop(t.Context(), id)
	if err != nil || got != want {
		t.Errorf("drop %q: %d, %v; want %d", id, got, err, want)
	}
}

func noLetters(t *testing.T, f Fixture) {
	dead(t, f, 0)
	requeue(t, f, queue.AllLetters, queue.Requeued{})
	requeue(t, f, "none", queue.Requeued{})
	drop(t, f, queue.AllLetters, 0)
	drop(t, f, "none", 0)
}

func listLetters(t *testing.T, f Fixture) {
	begin := time.Now().Add(-time.Second)
	long := bytes.Repeat([]byte("\x00ü"), 1000)
	f.Bury("tasks.w1", []byte("first"), "it is the first")
	dead(t, f, 1)
	f.Bury("events", long, "it is long")
	var ids [2]string
	for n := range 25 { // RabbitMQ 4 gives up on what was delivered 20 times
		all := dead(t, f, 2)
		for i, want := range []queue.Letter{
			{From: "events", Reason: "it is long", Size: len(long), Head: long[:queue.HeadBytes]},
			{From: "tasks.w1", Reason: "it is the first", Size: 5, Head: []byte("first")},
		} {
			if all[i].Time.Before(begin) || all[i].Time.After(time.Now().Add(time.Second)) {
				t.Errorf("it died at %v", all[i].Time)
			}
			if n == 0 {
				ids[i] = all[i].ID
			}
			want.ID, want.Time = ids[i], all[i].Time
			same(t, all[i], want)
		}
	}
	if ids[0] == "" || ids[0] == ids[1] {
		t.Errorf("the ids are %q", ids)
	}
	if all, err := f.Hub.Dead(t.Context(), 1); err != nil || all.Count != 2 || len(all.Letters) != 1 || all.Letters[0].ID != ids[0] {
		t.Errorf("the newest: %+v, %v", all, err)
	}
}

func requeueLetters(t *testing.T, f Fixture) {
	p := f.Port("w1")
	f.Bury("tasks.w1", encoded(t, batch("a-1", 0)), "too often")
	f.Bury("events", encoded(t, events("w1", "a-1", 0, 2)), "too often")
	dead(t, f, 2)
	requeue(t, f, queue.AllLetters, queue.Requeued{Moved: 2})
	same(t, open(t, p.Consume).take(t, 1), batches("a-1", 0, 1))
	same(t, open(t, f.Hub.Events).take(t, 2), events("w1", "a-1", 0, 2))
	dead(t, f, 0)
}

func oneLetter(t *testing.T, f Fixture) {
	s := open(t, f.Port("w1").Consume)
	for n := range 3 {
		f.Bury("tasks.w1", encoded(t, batch("a-1", n)), fmt.Sprint("reason ", n))
	}
	ids := map[string]string{}
	for _, l := range dead(t, f, 3) {
		ids[l.Reason] = l.ID
	}
	requeue(t, f, ids["reason 1"], queue.Requeued{Moved: 1})
	same(t, s.take(t, 1), batches("a-1", 1, 2))
	dead(t, f, 2)
	requeue(t, f, ids["reason 1"], queue.Requeued{})
	drop(t, f, ids["reason 2"], 1)
	dead(t, f, 1)
	drop(t, f, ids["reason 2"], 0)
	same(t, dead(t, f, 1)[0].ID, ids["reason 0"])
	drop(t, f, queue.AllLetters, 1)
	dead(t, f, 0)
	publish(t, f, "w1", batch("last", 0)) // and nothing else came
	same(t, s.take(t, 1)[0], batch("last", 0))
}

func lettersThatStay(t *testing.T, f Fixture) {
	tasks := open(t, f.Port("w1").Consume)
	publish(t, f, "w2", batch("a-1", 0))
	remove(t, f, "w2")
	f.Bury("tasks.w2", encoded(t, batch("a-1", 0)), "gone")
	f.Bury("tasks.w1", []byte("not a batch"), "unreadable")
	f.Bury("elsewhere", []byte("a stranger's"), "who knows")
	dead(t, f, 3)
	requeue(t, f, queue.AllLetters, queue.Requeued{Moved: 1, Left: 2})
	dead(t, f, 3)
	publish(t, f, "w1", batch("a-1", 1)) // what cannot be read holds up nobody
	same(t, tasks.take(t, 1), batches("a-1", 1, 2))
	for _, l := range dead(t, f, 3) {
		if l.From == "tasks.w1" && (l.Reason == "unreadable" || l.Reason == "") {
			t.Errorf("it died again of %q", l.Reason)
		}
	}
	drop(t, f, queue.AllLetters, 3)
}

func depths(t *testing.T, f Fixture) {
	f.Port("w2")
	publish(t, f, "w1", batches("a-1", 0, 3)...)
	emit(t, f.Port("w1"), task.Event{Version: task.Version, Worker: "w1"})
	got := map[string]int{}
	var names []string
	wait := map[string]int{"tasks.w1": 3, "tasks.w2": 0, "events": 1, "heartbeats": 0, "dead": 0}
	pace := time.NewTicker(5 * time.Millisecond)
	defer pace.Stop()
	for end := time.Now().Add(patience); ; <-pace.C {
		all, err := f.Hub.Depths(t.Context(), "w2", "w1", "w9")
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
	same(t, got, wait)
	same(t, names[:2], []string{"tasks.w2", "tasks.w1"})
}
