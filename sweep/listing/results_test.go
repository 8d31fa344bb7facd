package listing_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"syscall"
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

// many returns an archive with a sweep of n tasks that have ended: nine of ten succeeded with two
// metrics, of which accuracy is the objective, on three hosts.
func many(tb testing.TB, n int64) (*listing.Archive, string) {
	tb.Helper()
	folder := tb.TempDir()
	id := fillStore(tb, folder, n)
	return openArchive(tb, folder), id
}

// openArchive returns an archive that nobody has asked anything yet.
func openArchive(tb testing.TB, folder string) *listing.Archive {
	tb.Helper()
	s, err := store.Open(context.Background(), folder, "test")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = s.Close() })
	return &listing.Archive{Store: &s.Reader}
}

func fillStore(tb testing.TB, folder string, n int64) (id string) {
	tb.Helper()
	ctx := context.Background()
	sp, _, err := space.Read("parameters.yml",
		fmt.Appendf(nil, "lr: [0.1, 0.01, 0.001]\nname: [b10, b9, auto, 7]\nseed: [0, %d, 1)\n",
			(n+11)/12))
	if err != nil {
		tb.Fatal(err)
	}
	s, err := store.Open(ctx, folder, "test")
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	r := core.Record{Version: task.Version, Space: sp,
		Objective: metric.Objective{Metric: "accuracy", Maximize: true},
		Recipe: task.Recipe{Definition: "train", Command: []string{"python3", "train.py"},
			Revision: "0123456789abcdef"}}
	total := sp.Len()
	sw, err := s.Add(ctx, store.NewSweep{Record: r, Total: total, Submitted: began})
	if err != nil {
		tb.Fatal(err)
	}
	head := sw.Head
	head.Issued, head.State, head.Ended = total, core.Finished, began.Add(time.Hour)
	for from := int64(0); from < total; from += 5000 {
		var tasks []core.Task
		for i := from; i < min(from+5000, total); i++ {
			t := endedTask(i)
			head.Rows[t.State]++
			tasks = append(tasks, t)
		}
		rows := core.SweepRows{Seq: sw.Seq, Record: &sw.Record,
			Changes: core.Changes{Head: head, Tasks: tasks}}
		if err := s.Commit(ctx, &core.Rows{Sweeps: []core.SweepRows{rows}}); err != nil {
			tb.Fatal(err)
		}
	}
	return head.ID
}

var began = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func endedTask(i int64) core.Task {
	code := 0
	t := core.Task{Index: i, State: task.Succeeded, Attempts: 1,
		Attempt: core.Attempt{Number: 1, Revision: "0123456789abcdef", Worker: "w1"}}
	t.Attempt.Start = task.Start{Host: fmt.Sprintf("gpu%d", i%3), Slot: int(i % 2)}
	t.Attempt.Started = began.Add(time.Duration(i) * time.Millisecond)
	t.Attempt.Outcome = &task.Outcome{Class: task.Success, ExitCode: &code,
		Duration: time.Duration(i%977) * time.Millisecond,
		Metrics: metric.Final{{Name: "loss", Value: 1 / float64(i+1)},
			{Name: "accuracy", Value: float64(i%1013) / 1013}}, Stdout: task.Output{Bytes: 20}}
	if i%10 == 9 {
		code = 1
		t.State, t.Attempt.Outcome.Class, t.Attempt.Outcome.Reason,
			t.Attempt.Outcome.Metrics = task.Failed,
			task.Error, "exit code 1", nil
	}
	return t
}

// However many tasks a table has, whoever asks for it costs the master little memory: what is put
// in order are keys, not rows.
func TestResultsCostLittleMemory(t *testing.T) {
	a, id := many(t, 30_000)
	for name, q := range map[string]api.Query{
		"all": {}, "best": {Best: true, Issued: true}, "by a metric": {Sort: "-loss"},
		"by a parameter": {Sort: "name"}, "filtered": {Where: "host~gpu"},
	} {
		formats := []api.Format{api.JSON}
		if name == "all" { // the rows come the same way, whatever they are written as
			formats = append(formats, api.CSV)
		}
		for _, f := range formats {
			runtime.GC()
			var before runtime.MemStats
			runtime.ReadMemStats(&before)
			out := &peak{}
			if err := a.Results(t.Context(), id, q, f, out); err != nil {
				t.Fatal(err)
			}
			const most = 20 << 20 // it was 60 MB when all rows were held
			if used := int64(out.most) - int64(before.HeapInuse); used > most {
				t.Errorf("%s as %s: %d MB in use", name, f, used>>20)
			}
		}
	}
}

// BenchmarkResults writes all results of 200,000 tasks.
func BenchmarkResults(b *testing.B) {
	const n = 200_000
	a, id := many(b, n)
	for name, c := range map[string]struct {
		q api.Query
		f api.Format
	}{
		"JSON":            {api.Query{}, api.JSON},
		"CSV":             {api.Query{}, api.CSV},
		"best":            {api.Query{Best: true, Issued: true}, api.JSON},
		"by a metric":     {api.Query{Sort: "-loss"}, api.JSON},
		"by a parameter":  {api.Query{Sort: "name"}, api.JSON},
		"where parameter": {api.Query{Where: "seed=5"}, api.JSON},
		"top":             {api.Query{Sort: "-loss", Top: 5}, api.JSON},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			processor := processor(b)
			for b.Loop() {
				out := &peak{}
				if err := a.Results(context.Background(), id, c.q, c.f, out); err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(out.most)/(1<<20), "MB-peak")
			}
			b.ReportMetric(processor().Seconds()*1e6/float64(b.N)/n, "cpu-us/row")
		})
	}
}

// BenchmarkPages asks for pages of 100 as the monitor does, in a sweep of 100,000 tasks: first-ms
// is the processor's time for the first question of its kind to a master that has just started, and
// cpu-ms that of the next ones.
func BenchmarkPages(b *testing.B) {
	folder := b.TempDir()
	id := fillStore(b, folder, 100_000)
	for _, q := range []api.Query{
		{},
		{Where: "lr=0.01"},
		{Where: "seed=5"},
		{Where: "seed>5 and name=auto"},
		{Where: "state=failed"},
		{Where: "state!=succeeded and lr=0.1"},
		{Where: "host=gpu1"},
		{Where: "host=gpu9"},
		{Where: "accuracy>2"},
		{Where: "loss<0.0001"},
		{Where: "reason~code"},
		{Where: "reason~nothing"},
		{States: []task.State{task.Failed}, Where: "lr=0.01"},
		{Sort: "lr"},
		{Sort: "-name"},
		{Sort: "-index"},
		{Sort: "state"},
		{Sort: "host"},
		{Sort: "-accuracy"},
		{Sort: "accuracy"},
		{Sort: "loss"},
		{Sort: "-duration"},
		{Sort: "-started"},
		{Sort: "reason"},
		{Sort: "-accuracy", Where: "lr=0.01"},
		{Sort: "loss", Where: "state=failed"},
		{Sort: "loss", Where: "host~gpu1"},
		{Best: true},
	} {
		q.Limit = 100
		b.Run(fmt.Sprintf("where %s %v sort %s", q.Where, q.States, q.Sort), func(b *testing.B) {
			b.ReportAllocs()
			a := openArchive(b, folder)
			// opens what every question needs
			if _, err := a.Tasks(context.Background(), id, api.Query{Limit: 1}); err != nil {
				b.Fatal(err)
			}
			first := processor(b)
			ask := func() {
				if _, err := a.Tasks(context.Background(), id, q); err != nil {
					b.Fatal(err)
				}
			}
			ask()
			cold := first()
			next := processor(b)
			for b.Loop() {
				ask()
			}
			b.ReportMetric(cold.Seconds()*1e3, "first-ms")
			b.ReportMetric(next().Seconds()*1e3/float64(b.N), "cpu-ms")
		})
	}
}

// processor returns what tells the processor's time since then: it says more than the clock where
// the machine has other work.
func processor(b *testing.B) func() time.Duration {
	used := func() time.Duration {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			b.Fatal(err)
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	begin := used()
	return func() time.Duration { return used() - begin }
}

// peak counts what is written and looks at the heap now and then.
type peak struct {
	bytes, looked int64
	most          uint64
}

func (p *peak) Write(b []byte) (int, error) {
	p.bytes += int64(len(b))
	if p.looked == 0 || p.bytes-p.looked > 4<<20 {
		p.looked = p.bytes
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		p.most = max(p.most, m.HeapInuse)
	}
	return len(b), nil
}

var _ io.Writer = &peak{}

// An order over all tasks of a sweep of 10^12 would fill the memory, and a page in the order of a
// parameter look at all of them. Those that began do not, and those without a row are alike in what
// they did.
func TestASortOfTooManyTasksIsRefused(t *testing.T) {
	folder := t.TempDir()
	s, err := store.Open(t.Context(), folder, "test")
	if err != nil {
		t.Fatal(err)
	}
	sp, _, err := space.Read("parameters.yml", []byte("epoch: !interval [0, 1000000000000]\n"))
	if err != nil {
		t.Fatal(err)
	}
	r := core.Record{Version: task.Version, Space: sp,
		Recipe: task.Recipe{Definition: "train", Command: []string{"train.py"},
			Revision: "0123456789abcdef"}}
	sw, err := s.Add(t.Context(), store.NewSweep{Record: r, Total: sp.Len(),
		Submitted: time.Unix(1, 0)})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	a := openArchive(t, folder)
	a.GiveUpAfter(10_000)
	for name, c := range map[string]struct {
		query   api.Query
		page    bool
		refused bool
		want    []int64
	}{
		"all":               {api.Query{Sort: "-epoch"}, false, true, nil},
		"begun":             {api.Query{Sort: "-epoch", Issued: true}, false, false, nil},
		"top":               {api.Query{Sort: "-epoch", Top: 2}, false, true, nil},
		"filter":            {api.Query{Where: "host=gpu1"}, false, false, nil},
		"page":              {api.Query{Sort: "-epoch", Limit: 2}, true, true, nil},
		"page of states":    {api.Query{Sort: "-epoch", Where: "state=failed"}, true, false, nil},
		"the last page":     {api.Query{Sort: "-epoch", After: "999999999999"}, true, true, nil},
		"page of durations": {api.Query{Sort: "-duration", Limit: 2}, true, false, []int64{0, 1}},
		"the next": {api.Query{Sort: "duration", Limit: 2, After: "2"}, true, false,
			[]int64{2, 3}},
		"best": {api.Query{Best: true, Where: "host=''", Limit: 2}, true, false, []int64{0, 1}},
		"best of a host": {api.Query{Best: true, Where: "host=gpu1", Limit: 2}, true, false,
			nil},
		"filter of parameters":   {api.Query{Where: "epoch < 0"}, false, true, nil},
		"filter that picks some": {api.Query{Where: "epoch < 2"}, false, true, []int64{0, 1}},
		"page of parameters":     {api.Query{Where: "epoch < 0", Limit: 2}, true, true, nil},
		"page of an index": {api.Query{Where: "index > 20000", Limit: 2}, true, false,
			[]int64{20001, 20002}},
		"a single index": {api.Query{Where: "index = 999999999999"}, false, false,
			[]int64{999999999999}},
		"a range of indexes on a host": {api.Query{Where: "index > 30000 and index <= 50000 and " +
			"(host = gpu1 or index = 40000)"}, false, false, []int64{40000}},
		"full page": {api.Query{Where: "epoch > 5000", Limit: 2}, true, false,
			[]int64{5001, 5002}},
		"part of a page": {api.Query{Where: "epoch=5000 or epoch=5001", Limit: 3}, true, false,
			[]int64{5000, 5001}},
		"page of parameters and hosts": {api.Query{Where: "host='' and epoch < 0", Limit: 2}, true,
			true, nil},
		"page of some": {api.Query{Sort: "host", Where: "epoch > 5", Limit: 2}, true, true, nil},
	} {
		var got []int64
		var err error
		if c.page {
			var page api.Page
			page, err = a.Tasks(t.Context(), sw.Head.ID, c.query)
			got = indexes(page.Tasks)
		} else {
			err = a.Rows(t.Context(), sw.Head.ID, c.query,
				func(r *table.Row) error { got = append(got, r.Index); return nil })
		}
		var refused *api.Error
		if errors.As(err, &refused) != c.refused || !c.refused && err != nil ||
			!slices.Equal(got, c.want) {
			t.Errorf("%s: %v, %d", name, err, got)
		}
	}
}
