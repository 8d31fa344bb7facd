package core_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/core"
	"mlframework/sweep/task"
)

const statesPage = "../../docs/states.md"

// happens are the words of the page's table.
var happens = map[string]func(*bed){
	"placed on a worker":     func(b *bed) { b.place(1, "w") },
	"claimed by its worker":  func(b *bed) { b.event(task.ClaimedEvent, 0, nil) },
	"its program began":      func(b *bed) { b.event(task.StartedEvent, 0, nil) },
	"returned by its worker": func(b *bed) { b.event(task.ReturnedEvent, 0, nil) },
	"rescheduled to another worker": func(b *bed) {
		b.Place(core.Offer{Worker: "v", Tasks: 1, Empty: true}, at(9))
	},
	"the lease ended":        func(b *bed) { b.MarkLost("w", "silent", core.LeaseEnded, at(1)) },
	"its worker reconnected": func(b *bed) { b.TakeUp("w") },
	"its worker is lost":     func(b *bed) { b.MarkLost("w", "away", core.Vanished, at(1)) },
	"its worker began anew":  func(b *bed) { b.Rejoin("w", "it began anew", core.Vanished, at(1)) },
	"its worker does not know it": func(b *bed) {
		b.MarkAttemptLost(0, b.store.rows[0].Attempt.Number, "unknown", core.Vanished, at(1))
	},
	"its host could not run it": func(b *bed) { b.end(0, task.Loss) },
	"its host could not run it, in quarantine": func(b *bed) {
		b.EndOnUnfitHost(&task.Event{Kind: task.EndedEvent, Worker: "w", Attempt: 1,
			Outcome: &task.Outcome{Class: task.Loss}}, at(1))
	},
	"cancelled":          func(b *bed) { b.CancelTask(0, "enough", at(1)) },
	"ended: success":     func(b *bed) { b.end(0, task.Success) },
	"ended: error":       func(b *bed) { b.end(0, task.Error) },
	"ended: timeout":     func(b *bed) { b.end(0, task.TimedOut) },
	"ended: oom":         func(b *bed) { b.end(0, task.OutOfMemory) },
	"ended: stopped":     func(b *bed) { b.end(0, task.Stopped) },
	"stopped by a pause": func(b *bed) { b.Pause("wait", true); b.end(0, task.Stopped) },
	"a person's retry":   func(b *bed) { b.Reopen([]core.Task{b.store.rows[0]}, false, false) },
	"a late result of an earlier attempt": func(b *bed) {
		b.Event(&task.Event{Kind: task.EndedEvent, Worker: "v", Attempt: 1,
			Outcome: &task.Outcome{Class: task.Success}}, at(1))
	},
}

func TestStatesTable(t *testing.T) {
	t.Parallel()
	rows := 0
	for line := range strings.Lines(read(t, statesPage)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if from, err := task.ParseState(strings.TrimSpace(cells[0])); err == nil &&
			len(cells) == 4 {
			rows++
			t.Run(strings.TrimSpace(line), func(t *testing.T) {
				t.Parallel()
				testRow(t, from, strings.TrimSpace(cells[1]), strings.TrimSpace(cells[2]),
					strings.TrimSpace(cells[3]))
			})
		}
	}
	if rows < 30 {
		t.Errorf("only %d rows were found", rows)
	}
}

func testRow(t *testing.T, from task.State, what, to, charged string) {
	what, left := strings.CutSuffix(what, ", retry left")
	b := newBed(core.Record{}, 1)
	if left {
		b = newBed(core.Record{Retry: task.Retry{Error: 1, Timeout: 1, OOM: 1, Lost: 1}}, 1)
	}
	b.bring(from)
	for act := range strings.SplitSeq(what, ", then ") {
		if happens[act] == nil {
			t.Fatalf("the test does not know %q", act)
		}
		happens[act](b)
		b.keep()
	}
	row := b.store.rows[0]
	if row.State.String() != to {
		t.Errorf("the new state is %v", row.State)
	}
	none := task.Retry{}
	want := map[string]task.Retry{"": none, "error": {Error: 1}, "timeout": {Timeout: 1},
		"oom": {OOM: 1}, "lost": {Lost: 1}}
	if diff := cmp.Diff(want[charged], row.Charged); diff != "" {
		t.Errorf("charged (-page +ledger):\n%s", diff)
	}
}

// TestStatesPicture compares the picture of the page with that of the package comment.
func TestStatesPicture(t *testing.T) {
	t.Parallel()
	page := regexp.MustCompile("(?s)```\n(.*?)```").FindStringSubmatch(read(t, statesPage))
	if page == nil {
		t.Fatal("the page has no picture")
	}
	var picture strings.Builder
	for line := range strings.Lines(read(t, "core.go")) {
		if drawn, ok := strings.CutPrefix(line, "//\t"); ok {
			picture.WriteString(" " + drawn)
		}
	}
	if diff := cmp.Diff(page[1], picture.String()); diff != "" {
		t.Errorf("-docs/states.md +core.go:\n%s", diff)
	}
}

// TestOtherStatesTables compares the states of workers and of sweeps with the tables of the page.
func TestOtherStatesTables(t *testing.T) {
	t.Parallel()
	row := regexp.MustCompile(`(?m)^\| ([a-z]+) \|`)
	for of, want := range map[string][]string{
		"a worker": core.WorkerStates,
		"a sweep": {string(core.Open), string(core.Paused), string(core.Cancelled),
			string(core.Finished)},
	} {
		_, part, found := strings.Cut(read(t, statesPage), "## The states of "+of+"\n")
		if !found {
			t.Fatalf("the page has no states of %s", of)
		}
		part, _, _ = strings.Cut(part, "\n## ")
		var have []string
		for _, cells := range row.FindAllStringSubmatch(part, -1)[1:] { // after the head
			have = append(have, cells[1])
		}
		if diff := cmp.Diff(want, have); diff != "" {
			t.Errorf("of %s -core +page:\n%s", of, diff)
		}
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
