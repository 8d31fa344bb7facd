package server_test

import (
	"strings"
	"testing"

	"mlframework/sweep/api/server"
	"mlframework/sweep/task"
)

func TestAFeedForgetsAndSaysSo(t *testing.T) {
	t.Parallel()
	f := server.NewFeed()
	begin := f.End()
	f.Add(0, 1, 2)
	middle := f.End()
	for i := range int64(1500) {
		f.Add(0, i)
	}
	got, last, ok := f.After(begin)
	if len(got) != 1502 || got[0] != 1 || got[1501] != 1499 || !ok || last != f.End() {
		t.Errorf("%d rows, %t", len(got), ok)
	}
	if got, _, ok = f.After(middle); len(got) != 1500 || !ok {
		t.Errorf("%d rows, %t", len(got), ok)
	}
	if got, _, ok = f.After(f.End()); len(got) != 0 || !ok {
		t.Errorf("%d rows after the last, %t", len(got), ok)
	}
	for range 2 * server.RowsKept {
		f.Add(0, 0)
	}
	if _, _, ok = f.After(middle); ok {
		t.Error("it says that it has everything")
	}
	now := f.End()
	f.Add(1, 7) // one was left out by the master
	if _, _, ok = f.After(now); ok {
		t.Error("it says that nothing was left out")
	}
}

// A feed keeps about so many bytes of lines, tells them in parts, and counts what it does not keep.
func TestAFeedBoundsLines(t *testing.T) {
	t.Parallel()
	f := server.NewFeed()
	begin, text := f.End(), strings.Repeat("x", 4000)
	const shown, skipped = 5000, 30
	for n := range int64(shown) {
		f.AddLines(0, task.Line{Index: n, Text: text})
	}
	f.AddLines(skipped, task.Line{Index: shown, Text: text}) // the master left some out behind it
	f.AddLines(0, task.Line{Index: shown + skipped + 1, Text: "last"})
	next, most := int64(0), 0
	f.Lines(begin, func(lines []task.Line, missed int64) {
		next += missed
		bytes := 0
		for _, l := range lines {
			if l.Index != next {
				t.Fatalf("line %d came; want %d", l.Index, next)
			}
			next, bytes = next+1, bytes+len(l.Text)
		}
		most = max(most, bytes)
	})
	if next != shown+skipped+2 || most > server.LineBytesAtOne {
		t.Errorf("told of %d lines, in parts of up to %d bytes; want %d and at most %d", next, most,
			shown+skipped+2, server.LineBytesAtOne)
	}
}
