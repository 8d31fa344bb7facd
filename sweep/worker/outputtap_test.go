package worker_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/queue"
	"mlframework/sweep/task"
	"mlframework/sweep/worker"
)

// screen is a port that keeps lines, but those whose turn is refused.
type screen struct {
	queue.WorkerEndpoint
	lines   []task.Line
	refuse  func(offered int) bool
	offered int
}

func (s *screen) OfferLine(l task.Line) bool {
	n := s.offered
	s.offered++
	if s.refuse != nil && s.refuse(n) {
		return false
	}
	s.lines = append(s.lines, l)
	return true
}

func (s *screen) texts() (texts []string) {
	for _, l := range s.lines {
		texts = append(texts, l.Text)
	}
	return texts
}

func TestLinesEndAtEveryKindOfLineBreak(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		want []string
	}{
		{"", nil},
		{"a\nb\n", []string{"a", "b"}},
		{"a\r\nb\r\n", []string{"a", "b"}},
		{" 1%\r 2%\r 3%\ndone", []string{" 1%", " 3%", "done"}},
		{"\r 1%\r 2%\r", []string{" 1%", " 2%"}},
		{"\n\na\n", []string{"", "", "a"}},
		{"a\r\r\nb", []string{"a", "b"}},
		{"a\n\rb", []string{"a", "b"}},
		{"no end", []string{"no end"}},
		{"\xff\x00\x1b[31m\n", []string{`\xff` + "\x00\x1b[31m"}},
		{"\x9b31m é日\xe6\n", []string{`\x9b31m é日\xe6`}},
		{strings.Repeat("x", 5000) + "\ny\n", []string{strings.Repeat("x", 4096), "y"}},
	} {
		for cut := 0; cut <= min(len(c.text), 20); cut++ {
			s := &screen{}
			worker.Tap(s, c.text[:cut], c.text[cut:])
			if diff := cmp.Diff(c.want, s.texts()); diff != "" {
				t.Errorf("%q cut at %d: %s", c.text, cut, diff)
			}
		}
	}
}

// The clock goes on by a quarter of a second with every look at it: each text that is written over
// is one look, each line that is sent another.
func TestOverwrittenLinesAreThrottled(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for i := range 30 {
		fmt.Fprintf(&text, "\r%d", i)
	}
	s := &screen{}
	worker.TapWithClock(s, 250*time.Millisecond, text.String()+"\nend\n")
	if diff := cmp.Diff([]string{"0", "7", "14", "21", "28", "29", "end"}, s.texts()); diff != "" {
		t.Error(diff)
	}
}

func TestDroppedLinesAreCounted(t *testing.T) {
	t.Parallel()
	s := &screen{refuse: func(n int) bool { return n == 1 || n == 2 || n == 4 }}
	worker.Tap(s, "0\n1\n2\n3\n4\n5\n")
	var got []any
	for _, l := range s.lines {
		got = append(got, l.Text, l.Missed)
	}
	want := []any{"0", int64(0), "3", int64(2), "5", int64(1)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestLastLineIsRetried(t *testing.T) {
	t.Parallel()
	s := &screen{refuse: func(n int) bool { return n > 0 && n < 6 }}
	worker.Tap(s, "0\n1\n2\nlast\n")
	if len(s.lines) != 2 || s.lines[1].Text != "last" || s.lines[1].Missed != 2 {
		t.Errorf("%+v came; want the first line and the last, with 2 missed", s.lines)
	}
}

func TestUnfollowedOutputIsNotSent(t *testing.T) {
	write, piece := worker.TapOff(), []byte(strings.Repeat("line\n", 1000))
	if n := testing.AllocsPerRun(100, func() { write(piece) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestFollowersGetLinesOfTheirSweepOnly(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	lines := s.queue.Lines(t.Context())
	s.tell(task.Control{Kind: task.FollowControl, Sweep: "train-1"})
	s.tell(task.Control{Kind: task.FollowControl, Sweep: "train-2"})
	s.tell(task.Control{Kind: task.FollowControl, Sweep: "train-2", Off: true})
	s.obeyed()
	other := batch("echo other", 0)
	other.Sweep = "train-2"
	s.send(other, batch("echo out; echo err >&2", 5))
	s.ended(5, 1)
	got := []task.Line{<-lines, <-lines}
	for i := range got {
		if got[i].Time.IsZero() {
			t.Error("no time")
		}
		got[i].Time, got[i].Worker = task.Line{}.Time, ""
	}
	want := []task.Line{
		{Sweep: "train-1", Index: 5, Attempt: 1, Host: "gpu1", Text: "out"},
		{Sweep: "train-1", Index: 5, Attempt: 1, Host: "gpu1", Text: "err", Stderr: true},
	}
	if got[0].Stderr { // the two streams are read when either has something
		got[0], got[1] = got[1], got[0]
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
