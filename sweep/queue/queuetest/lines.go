package queuetest

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"mlframework/sweep/queue"
	"mlframework/sweep/task"
)

var lineTests = []contractTest{
	{"lines come as they were shown", nil, linesCome},
	{"showing never blocks, is bounded and says what was taken", nil, linesBounded},
	{"lines that nobody reads are refused, and none is lost uncounted", nil, linesRefused},
}

func isLineProbe(l task.Line) bool { return l.Sweep == probe }

func line(n int) task.Line {
	return task.Line{Sweep: "a-1", Index: int64(n), Attempt: 1, Host: "gpu1", Slot: 1, Stderr: true,
		Time: time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC),
		Text: "line " + strconv.Itoa(n) + " \x1b[1mü"}
}

// lines opens the live output and returns when lines arrive.
func lines(t *testing.T, f Fixture, p queue.WorkerEndpoint) <-chan task.Line {
	t.Helper()
	c := messages(t, f.Master.Lines)
	sendUntil(t, c, isLineProbe, func() error { p.OfferLine(task.Line{Sweep: probe}); return nil })
	return c
}

func linesCome(t *testing.T, f Fixture) {
	p := f.Worker("w1")
	c := lines(t, f, p)
	for n := range 20 {
		if !p.OfferLine(line(n)) {
			t.Fatalf("line %d was not taken, although all before it are read", n)
		}
		want := line(n)
		want.Worker = "w1" // the queue knows who sent it
		equal(t, nextUnprobed(t, c, isLineProbe), want)
	}
}

// linesBounded shows lines that nobody reads until one is refused, as a script that prints without
// end does. Then what comes and what the lines say is missing is all of them.
func linesBounded(t *testing.T, f Fixture) {
	p := f.Worker("w1")
	c := lines(t, f, p)
	shown, missed := 0, int64(0)
	show := func(kind string) bool {
		l := task.Line{Sweep: kind, Index: int64(shown), Missed: missed,
			Text: strings.Repeat("x", 100)}
		shown++
		if !p.OfferLine(l) {
			missed++
			return false
		}
		missed = 0
		return true
	}
	deadline := time.Now().Add(patience)
	for show("flood") {
		if shown == 1_000_000 || time.Now().After(deadline) {
			t.Fatalf("%d lines were taken that nobody reads: they are not bounded", shown)
		}
	}
	pace := time.NewTicker(time.Millisecond)
	defer pace.Stop()
	next := int64(0)
	for last := ""; last != "last"; {
		select {
		case l := <-c:
			if isLineProbe(l) {
				continue
			}
			next = lineAfter(t, l, next)
			last = l.Sweep
		case <-pace.C:
			show("last")
		}
		if time.Now().After(deadline) {
			t.Fatalf("the last line did not come in %v", patience)
		}
	}
}

// mostUnread is more than an implementation may hold of lines that nobody reads, in bytes.
const mostUnread = 32 << 20

// linesRefused shows long lines to a master that has opened the stream and reads nothing, until
// none has been taken for a while. What was taken is little, and all of it comes once the master
// reads.
func linesRefused(t *testing.T, f Fixture) {
	p := f.Worker("w1")
	c := lines(t, f, p)
	text := strings.Repeat("x", 4000)
	shown := int64(0)
	show := func() bool {
		if !p.OfferLine(task.Line{Sweep: "flood", Index: shown, Text: text}) {
			return false
		}
		shown++
		return true
	}
	pace := time.NewTicker(time.Millisecond)
	defer pace.Stop()
	deadline := time.Now().Add(patience)
	for taken := time.Now(); time.Since(taken) < 500*time.Millisecond &&
		time.Now().Before(deadline); <-pace.C {
		for show() {
			taken = time.Now()
			if shown*int64(len(text)) > mostUnread {
				t.Fatalf("%d bytes of lines were taken that nobody reads", shown*int64(len(text)))
			}
		}
	}
	taken := shown
	for next := int64(0); next < taken; {
		select {
		case l := <-c:
			if isLineProbe(l) {
				continue
			}
			next = lineAfter(t, l, next)
		case <-time.After(time.Until(deadline)):
			t.Fatalf("line %d of %d that were taken did not come in %v", next, taken, patience)
		}
	}
}

// lineAfter checks that a line is the next, after those that are missed, and returns the index of
// the one after it.
func lineAfter(t *testing.T, l task.Line, next int64) int64 {
	t.Helper()
	if next += l.Missed; l.Index != next {
		t.Fatalf("line %d came with %d missed; want line %d", l.Index, l.Missed, next)
	}
	return next + 1
}
