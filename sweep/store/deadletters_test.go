package store_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/store"
	"mlframework/sweep/task"
)

func deadLetter(id, worker string, body []byte) task.DeadLetter {
	return task.DeadLetter{ID: id, Queue: "events", Reason: "no array", Time: at(1).UTC(),
		Worker: worker, Sender: task.Sender{User: "worker-" + worker, Key: "events." + worker},
		Size: len(body), Body: body}
}

func keep(t testing.TB, s *store.Store, all ...task.DeadLetter) {
	t.Helper()
	if err := s.AddDeadLetters(t.Context(), all); err != nil {
		t.Fatal(err)
	}
}

func deadLetterIDs(t *testing.T, r *store.Reader) []string {
	t.Helper()
	ids, err := r.DeadLetterIDs(t.Context(), store.AllDeadLetters)
	if err != nil {
		t.Fatal(err)
	}
	return ids
}

func TestDeadLettersAreListedAndDropped(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	s, err := store.Open(t.Context(), folder, "test")
	if err != nil {
		t.Fatal(err)
	}
	long := deadLetter("1", "w1", bytes.Repeat([]byte("\x00ü"), 1000))
	cut := task.DeadLetter{ID: "2", Queue: "tasks.w1", Reason: "x", Size: 9000, Body: []byte("{")}
	keep(t, s, long, cut, long) // one comes twice
	later := deadLetter("3", "w1", nil)
	later.Time = later.Time.Add(-time.Hour) // says the worker
	keep(t, s, later, cut)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = store.Open(t.Context(), folder, "test"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	count, newest, err := s.DeadLetters(t.Context(), 10)
	short := long
	short.Body = long.Body[:store.DeadLetterPreview]
	if diff := cmp.Diff([]task.DeadLetter{later, cut, short}, newest); count != 3 || diff != "" ||
		err != nil {
		t.Errorf("%d, %v (-want +got):\n%s", count, err, diff)
	}
	if count, newest, err = s.DeadLetters(t.Context(), 1); count != 3 || len(newest) != 1 ||
		err != nil {
		t.Errorf("the newest: %d, %v, %v", count, newest, err)
	}
	complete, exists, err := s.DeadLetter(t.Context(), "1")
	if diff := cmp.Diff(long, complete); !exists || diff != "" || err != nil {
		t.Errorf("%v, %v (-want +got):\n%s", exists, err, diff)
	}
	if _, exists, err := s.DeadLetter(t.Context(), "9"); exists || err != nil {
		t.Errorf("one that does not exist: %v, %v", exists, err)
	}
	for _, drop := range []struct {
		ids  []string
		want int
	}{{[]string{"9"}, 0}, {[]string{"1", "9"}, 1}, {[]string{store.AllDeadLetters}, 2}} {
		if n, err := s.DropDeadLetters(t.Context(), drop.ids...); n != drop.want || err != nil {
			t.Errorf("drop %q: %d, %v; want %d", drop.ids, n, err, drop.want)
		}
	}
}

// A time that JSON cannot say, which a worker may say, is not known.
func TestTheTimeOfADeadLetterCanBeSaid(t *testing.T) {
	t.Parallel()
	s, _ := begin(t, newRecord())
	for i, year := range []int{10_000, -1} {
		l := deadLetter(fmt.Sprint(i), "w1", nil)
		l.Time = time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)
		keep(t, s, l)
		if got, _, err := s.DeadLetter(t.Context(), l.ID); !got.Time.IsZero() || err != nil {
			t.Errorf("%v became %v, %v", l.Time, got.Time, err)
		}
	}
}

// One worker has a hundred at most, and drives out nobody else's; of all the oldest go.
func TestDeadLettersAreBounded(t *testing.T) {
	t.Parallel()
	s, _ := begin(t, newRecord())
	keep(t, s, deadLetter("other", "w2", nil))
	for n := range 3 {
		var all []task.DeadLetter
		for i := range 60 {
			all = append(all, deadLetter(fmt.Sprint(n, ".", i), "w1", nil))
		}
		keep(t, s, all...)
	}
	if ids := deadLetterIDs(t, &s.Reader); len(ids) != 101 || ids[0] != "other" {
		t.Errorf("%d are kept: %q", len(ids), ids)
	}
	if _, err := s.DropDeadLetters(t.Context(), "0.7"); err != nil {
		t.Fatal(err)
	}
	keep(t, s, deadLetter("room", "w1", nil), deadLetter("none", "w1", nil))
	if ids := deadLetterIDs(t, &s.Reader); len(ids) != 101 || ids[100] != "room" {
		t.Errorf("%d are kept: %q", len(ids), ids)
	}
	for n := range 5 { // batches that it rejects
		keep(t, s, deadLetter(fmt.Sprint("batch ", n), "w3", make([]byte, 3<<19)))
	}
	if ids := deadLetterIDs(t, &s.Reader); len(ids) != 103 || ids[102] != "batch 1" {
		t.Errorf("%d are kept: %q", len(ids), ids)
	}
	for n := range 5 {
		l := deadLetter(fmt.Sprint("long ", n), "", make([]byte, 15<<20))
		keep(t, s, l)
	}
	got, want := fmt.Sprint(deadLetterIDs(t, &s.Reader)), "[long 1 long 2 long 3 long 4]"
	if got != want {
		t.Errorf("%s are kept; want %s", got, want)
	}
	many := make([]task.DeadLetter, 0, 20_010)
	for n := range cap(many) {
		many = append(many, deadLetter(fmt.Sprint("many ", n), "", nil))
	}
	keep(t, s, many...)
	if ids := deadLetterIDs(t, &s.Reader); len(ids) != 20_000 || ids[0] != "many 10" {
		t.Errorf("%d are kept from %q on", len(ids), ids[0])
	}
}
