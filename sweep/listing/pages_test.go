package listing_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/listing"
	"mlframework/sweep/metric"
	"mlframework/sweep/space"
	"mlframework/sweep/store"
	"mlframework/sweep/table"
	"mlframework/sweep/task"
)

// randomSweep is a sweep whose tasks change at random, in a store.
type randomSweep struct {
	t      *testing.T
	w      *rand.Rand
	store  *store.Store
	folder string
	sweep  store.Sweep
	tasks  map[int64]core.Task
}

func newRandomSweep(t *testing.T, w *rand.Rand, n int) *randomSweep {
	t.Helper()
	sp, _, err := space.Read("parameters.yml",
		fmt.Appendf(nil, "lr: [0.1, 0.01, auto]\nseed: [0, %d, 1)\n", n/3))
	if err != nil {
		t.Fatal(err)
	}
	r := core.Record{Version: task.Version, Space: sp,
		Objective: metric.Objective{Metric: "accuracy", Maximize: w.IntN(2) == 0},
		Recipe: task.Recipe{Definition: "train", Command: []string{"train.py"},
			Revision: "0123456789abcdef",
			Metrics: []metric.Rule{{Name: "accuracy", Pattern: "(a)"},
				{Name: "loss", Pattern: "(l)"}, {Name: `x"loss`, Pattern: "(x)"}}}}
	total := sp.Len()
	if w.IntN(2) == 0 { // as --missing leaves some out
		r.Ranges = core.Ranges{{From: 7, To: total / 2}, {From: total/2 + 9, To: total}}
		total -= 16
	}
	s := &randomSweep{t: t, w: w, folder: t.TempDir(), tasks: map[int64]core.Task{}}
	if s.store, err = store.Open(t.Context(), s.folder, "test"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.store.Close() })
	if s.sweep, err = s.store.Add(t.Context(),
		store.NewSweep{Record: r, Total: total, Submitted: began}); err != nil {
		t.Fatal(err)
	}
	return s
}

// change commits another state of n tasks.
func (s *randomSweep) change(n int) {
	rows := core.SweepRows{Seq: s.sweep.Seq, Record: &s.sweep.Record}
	for range n {
		t := s.random(s.sweep.Record.Ranges.At(s.w.Int64N(s.sweep.Head.Total)))
		if old, have := s.tasks[t.Index]; have {
			s.sweep.Head.Rows[old.State]--
		}
		s.sweep.Head.Rows[t.State]++
		s.tasks[t.Index] = t
		rows.Changes.Tasks = append(rows.Changes.Tasks, t)
	}
	rows.Changes.Head = s.sweep.Head
	all := core.Rows{Sweeps: []core.SweepRows{rows}}
	if err := s.store.Commit(context.Background(), &all); err != nil {
		s.t.Error(err)
	}
}

func (s *randomSweep) random(index int64) core.Task {
	w := s.w
	t := core.Task{Index: index, State: task.States[w.IntN(len(task.States))], Attempts: w.IntN(3)}
	t.Attempt = core.Attempt{Number: t.Attempts, Worker: "w1",
		Revision: []string{"", "0123456789abcdef", "fedcba9876543210"}[w.IntN(3)]}
	if w.IntN(4) > 0 {
		t.Attempt.Started = began.Add(time.Duration(w.IntN(1e6)) * time.Millisecond)
		t.Attempt.Start = task.Start{Host: fmt.Sprintf("gpu%d", w.IntN(12)), Slot: w.IntN(3)}
	}
	if w.IntN(4) == 0 {
		return t
	}
	t.Attempt.Outcome = &task.Outcome{Class: task.Success,
		Duration: time.Duration(w.IntN(2000)) * time.Microsecond,
		Reason:   []string{"", "", "exit code 1", fmt.Sprintf("line %d", w.IntN(500))}[w.IntN(4)]}
	if code := w.IntN(4); code < 3 {
		t.Attempt.Outcome.ExitCode = &code
	}
	for _, name := range []string{`x"loss`, "loss", "accuracy"} {
		value := []float64{w.NormFloat64(), float64(w.IntN(5)), math.NaN(), math.Inf(1),
			math.Inf(-1), 0}[w.IntN(6)]
		if w.IntN(4) > 0 {
			t.Attempt.Outcome.Metrics = append(t.Attempt.Outcome.Metrics,
				metric.FinalValue{Name: name,
					Value: value})
		}
	}
	return t
}

// question asks anything of the tasks.
func (s *randomSweep) question() (q api.Query) {
	any := func(texts ...string) string { return texts[s.w.IntN(len(texts))] }
	condition := func() string {
		return any("host=gpu3", "host~'gpu[12]'", "host=gpu99", "reason~line",
			"reason='exit code 1'", "reason=''", "state=failed", "state!=succeeded",
			"loss<0", "loss=nan", "loss=inf", "accuracy>1", "accuracy>99", `metrics.loss!=''`,
			`'x"loss'<0.5`, "duration<0.0005", "duration=''", "exit_code=1", "attempts>1",
			"slot=2", "started>2026-01-02T03:10", "lr=auto", "seed<50", "index>100", "revision~fed",
			"seed * lr > 1", "accuracy < loss", "index % 7 in [1, 2, seed]", "slot in [0, 1]",
			"seed + index > 90", "not state in [failed, running]")
	}
	for range s.w.IntN(3) {
		if q.Where != "" {
			q.Where += any(" and ", " or ", " and not ")
		}
		q.Where += condition()
	}
	switch s.w.IntN(4) {
	case 0:
		q.Best = true
	case 1, 2:
		q.Sort = any("", "-") + any("state", "host", "reason", "loss", "accuracy", "duration",
			"started", "exit_code", "slot", "attempts", "revision", "lr", "index", `x"loss`)
	}
	if s.w.IntN(4) == 0 {
		q.States = []task.State{task.States[s.w.IntN(len(task.States))], task.Succeeded}
	}
	q.Issued = s.w.IntN(5) == 0
	q.Limit = []int{1, 20, 100}[s.w.IntN(3)]
	return q
}

// answer returns what a question is answered by every row, filtered and sorted as rows are.
func (s *randomSweep) answer(all []table.Row, q api.Query) []table.Row {
	schema := s.sweep.Record.Schema()
	rows, err := picked(all, schema, q.Where)
	if err == nil && q.Sort != "" {
		rows, err = sorted(rows, schema, q.Sort)
	}
	if err != nil {
		s.t.Fatalf("%+v: %v", q, err)
	}
	if q.Best {
		rows = ranking(rows, s.sweep.Record.Objective)
	}
	return slices.DeleteFunc(slices.Clone(rows), func(r table.Row) bool {
		_, begun := s.tasks[r.Index]
		in := slices.ContainsFunc(q.States, func(state task.State) bool {
			return state.String() == r.State
		})
		return q.Issued && !begun || len(q.States) > 0 && !in
	})
}

// rows returns those of all tasks, as a reader of another process has them.
func (s *randomSweep) rows() (all []table.Row) {
	reader, err := store.OpenReader(s.t.Context(), s.folder)
	if err != nil {
		s.t.Fatal(err)
	}
	defer reader.Close()
	var out bytes.Buffer
	if err := (&listing.Archive{Store: reader}).Results(s.t.Context(), s.sweep.Head.ID, api.Query{},
		api.JSON, &out); err != nil {
		s.t.Fatal(err)
	}
	for line := range bytes.Lines(out.Bytes()) {
		var r table.Row
		if err := table.ReadRow(line, &r); err != nil {
			s.t.Fatal(err)
		}
		all = append(all, r)
	}
	return all
}

func (s *randomSweep) check(a *listing.Archive, questions int) {
	s.t.Helper()
	all := s.rows()
	for range questions {
		q := s.question()
		want := s.answer(all, q)
		for pages := 0; pages < 3; pages++ {
			page, err := a.Tasks(s.t.Context(), s.sweep.Head.ID, q)
			if err != nil {
				s.t.Fatalf("%+v: %v", q, err)
			}
			n := min(q.Limit, len(want))
			if got, want := lines(s.t, page.Tasks), lines(s.t, want[:n]); got != want {
				s.t.Fatalf("%+v:\n%s\nwant\n%s", q, got, want)
			}
			if want = want[n:]; (page.Next != "") != (len(want) > 0) {
				s.t.Fatalf("%+v: the next page is %q of %d tasks more", q, page.Next, len(want))
			}
			if q.After = page.Next; page.Next == "" {
				break
			}
		}
	}
}

func lines(t *testing.T, rows []table.Row) string {
	t.Helper()
	var out strings.Builder
	if err := table.WriteJSON(&out, rows); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// Every page has the tasks that a filter and an order over all rows would give, also right after
// tasks changed, and after they changed while questions were asked.
func TestPagesWhileTasksChange(t *testing.T) {
	t.Parallel()
	for seed := range uint64(2) {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			t.Parallel()
			s := newRandomSweep(t, rand.New(rand.NewPCG(seed, 1)), 3600)
			a := &listing.Archive{Store: &s.store.Reader}
			for range 3 {
				s.change(1200)
				s.check(a, 5)
			}
			for range 4 {
				s.change(1 + s.w.IntN(200))
				s.check(a, 6)
			}
			changed := make(chan struct{})
			ask := newRandomSweepQuestions(seed)
			go func() {
				defer close(changed)
				for range 40 {
					s.change(1 + s.w.IntN(50))
				}
			}()
			for done := false; !done; {
				if _, err := a.Tasks(t.Context(), s.sweep.Head.ID, ask()); err != nil {
					t.Error(err)
				}
				select {
				case <-changed:
					done = true
				default:
				}
			}
			s.check(a, 10)
		})
	}
}

// newRandomSweepQuestions returns what makes questions beside a sweep that changes.
func newRandomSweepQuestions(seed uint64) func() api.Query {
	return (&randomSweep{w: rand.New(rand.NewPCG(seed, 2))}).question
}
