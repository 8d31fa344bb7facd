package table_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/metric"
	"mlframework/sweep/table"
)

func TestWriteTextGivesWayToNarrowTerminals(t *testing.T) {
	t.Parallel()
	for width, want := range map[int]string{
		0: `
id                 state        lr  batchsize  gpu    accuracy         loss  attempts  host   started                  duration  exit_code  reason
run_training-7/12  succeeded  0.01        100   -1    0.951234     0.123457         1  local  2026-03-04 06:06:07 CET     1h02m          0  -
run_training-7/3   succeeded  1e-3        100   -1         nan          nan         1  local  2026-03-04 06:06:07 CET     1m01s          0  -
run_training-7/4   succeeded   0.1         20   -1  no metrics  1.23457e+07         1  local  2026-03-04 06:06:07 CET     250ms          0  -
run_training-7/5   failed      0.1        100   -1           -            -         1  local  2026-03-04 06:06:07 CET     12.3s          1  exit code 1
run_training-7/6   pending     0.1          1   -1           -            -         0  -      -                               -          -  -
`, 80: `
same for all: sweep=run_training-7  gpu=-1
index  state        lr  batchsize    accuracy         loss  host   duration
   12  succeeded  0.01        100    0.951234     0.123457  local     1h02m
    3  succeeded  1e-3        100         nan          nan  local     1m01s
    4  succeeded   0.1         20  no metrics  1.23457e+07  local     250ms
    5  failed      0.1        100           -            -  local     12.3s
    6  pending     0.1          1           -            -  -             -
not shown: attempts, started, exit_code, reason (see --csv, --json or a wider
  terminal)
`, 40: `
same for all: sweep=run_training-7
  gpu=-1
index    lr  batchsize    accuracy
   12  0.01        100    0.951234
    3  1e-3        100         nan
    4   0.1         20  no metrics
    5   0.1        100           -
    6   0.1          1           -
not shown: state, loss, attempts, host,
  started, duration, exit_code, reason
  (see --csv, --json or a wider
  terminal)
`, 20: `
same for all: sweep=run_training-7
  gpu=-1
index    accuracy
   12    0.951234
    3         nan
    4  no metrics
    5           -
    6           -
not shown: state,
  lr, batchsize,
  loss, attempts,
  host, started,
  duration,
  exit_code, reason
  (see --csv, --json
  or a wider
  terminal)
`} {
		checkText(t, textRows(), table.TableOptions{
			Width: width, Location: time.FixedZone("CET", 3600),
			Objective: metric.Objective{Maximize: true, Metric: "accuracy"},
		}, want[1:])
	}
}

func TestWriteTextFoldsWhatIsTheSameOnlyToFit(t *testing.T) {
	t.Parallel()
	rows := textRows()[:1]
	rows = append(rows, rows[0])
	rows[1].Index, rows[1].ID, rows[1].Revision = 13, "run_training-7/13", "0123456789abcdef"
	checkText(t, rows, table.TableOptions{Width: 70}, `
same for all: lr=0.01  batchsize=100  gpu=-1  loss=0.123457
  accuracy=0.951234  host=local  started=2026-03-04 05:06:07 UTC
  duration=1h02m
id                 revision
run_training-7/12  r
run_training-7/13  0123456789ab
`[1:])
}

func TestWriteTextIsSafeAndAligned(t *testing.T) {
	t.Parallel()
	row := func(id, name, note string) table.Row {
		return table.Row{ID: id, State: "lost",
			Parameters: table.Parameters{{Name: "名前\x1b", Value: name},
				{Name: "note", Value: note}}}
	}
	rows := []table.Row{row("s-1/0", "日本語", "\x1b[2J\r\n"),
		row("s-1/1", "é", "\u009b\u202e\xff"),
		row("s-1/2", "ascii", "x\ty")}
	for i := range rows {
		rows[i].GPUs = []table.GPU{{UUID: "GPU-aaaaaaaa-1"}, {UUID: "MIG-b"}}
	}
	checkText(t, rows, table.TableOptions{}, `
id     state  名前\x1b  note              attempts  host  gpus                started  duration  exit_code
s-1/0  lost   日本語    \x1b[2J\r\n              0  -     GPU-aaaaaaaa,MIG-b  -        -         -
s-1/1  lost   é         \u009b\u202e\xff         0  -     GPU-aaaaaaaa,MIG-b  -        -         -
s-1/2  lost   ascii     x\ty                     0  -     GPU-aaaaaaaa,MIG-b  -        -         -
`[1:])
	checkText(t, nil, table.TableOptions{}, "no tasks\n")
}

// Metrics that come late get their column, and what rows before them lack is said as of any other.
func TestWriteTextWithColumnsThatComeLate(t *testing.T) {
	t.Parallel()
	rows := []table.Row{
		{ID: "s-1/0", Index: 0, Sweep: "s-1", State: "succeeded"},
		{ID: "s-1/1", Index: 1, Sweep: "s-1", State: "failed"},
		{ID: "s-1/2", Index: 2, Sweep: "s-1", State: "succeeded",
			Metrics: metric.Final{{Name: "loss", Value: 2}, {Name: "accuracy", Value: 0.5}}},
		{ID: "s-1/3", Index: 3, Sweep: "s-1", State: "succeeded",
			Parameters: table.Parameters{{Name: "late", Value: "x"}}},
	}
	o := table.TableOptions{Objective: metric.Objective{Maximize: true, Metric: "accuracy"}}
	checkText(t, rows, o, `
id     state      late    accuracy  loss  attempts  host  started  duration  exit_code
s-1/0  succeeded  -     no metrics     -         0  -     -        -         -
s-1/1  failed     -              -     -         0  -     -        -         -
s-1/2  succeeded  -            0.5     2         0  -     -        -         -
s-1/3  succeeded  x     no metrics     -         0  -     -        -         -
`[1:])
}

// aside counts what is set aside and keeps it in a file.
type aside struct{ *os.File }

func (a aside) Written() (io.ReaderAt, error) { return a, nil }

// A table holds no rows.
func TestTextWriterCostsLittleMemory(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "aside"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows := manyRows(1000)
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapInuse)
	}
	before := heap()
	table := table.NewTextWriter(table.TableOptions{Width: 80}, aside{file})
	const n = 100_000
	for i := range n {
		r := rows[i%len(rows)]
		r.ID, r.Index = fmt.Sprintf("run_training-7/%d", i), int64(i)
		if err := table.Write(&r); err != nil {
			t.Fatal(err)
		}
	}
	if used := heap() - before; used > 5<<20 {
		t.Errorf("%d MB in use after %d rows", used>>20, n)
	}
	lines := &counter{}
	if err := table.Flush(lines); err != nil {
		t.Fatal(err)
	}
	if lines.n < n {
		t.Errorf("%d lines", lines.n)
	}
}

type counter struct{ n int }

func (c *counter) Write(p []byte) (int, error) {
	c.n += strings.Count(string(p), "\n")
	return len(p), nil
}

func checkText(t *testing.T, rows []table.Row, o table.TableOptions, want string) {
	t.Helper()
	var out strings.Builder
	if err := table.WriteText(&out, rows, o); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, out.String()); d != "" {
		t.Errorf("width %d (-want +got):\n%s", o.Width, d)
	}
}

func textRows() []table.Row {
	row := func(i int64, state, lr, batch string, exit int, seconds float64,
		metrics ...metric.FinalValue) table.Row {
		return table.Row{ID: fmt.Sprintf("run_training-7/%d", i), Sweep: "run_training-7",
			Definition: "run_training",
			Index:      i, State: state, Argv: []string{"python3", "train.py", "--lr=" + lr},
			Parameters: table.Parameters{{Name: "lr", Value: lr}, {Name: "batchsize", Value: batch},
				{Name: "gpu", Value: "-1"}},
			Metrics: metrics, Attempts: 1, Host: "local", Started: &clock, Duration: &seconds,
			ExitCode: &exit, Revision: "r"}
	}
	loss, acc := func(v float64) metric.FinalValue {
		return metric.FinalValue{Name: "loss",
			Value: v}
	},
		func(v float64) metric.FinalValue { return metric.FinalValue{Name: "accuracy", Value: v} }
	rows := []table.Row{
		row(12, "succeeded", "0.01", "100", 0, 3723, loss(0.123456789), acc(0.9512345)),
		row(3, "succeeded", "1e-3", "100", 0, 61, loss(nan), acc(nan)),
		row(4, "succeeded", "0.1", "20", 0, 0.25, loss(12345678)),
		row(5, "failed", "0.1", "100", 1, 12.34),
		{ID: "run_training-7/6", Sweep: "run_training-7", Index: 6, State: "pending",
			Parameters: table.Parameters{{Name: "lr", Value: "0.1"},
				{Name: "batchsize", Value: "1"}, {Name: "gpu", Value: "-1"}}},
	}
	rows[3].Reason = "exit code 1"
	return rows
}

// A table puts its rows in order by itself, as if they had been sorted before.
func TestTextWriterRanks(t *testing.T) {
	t.Parallel()
	for _, o := range []metric.Objective{{Maximize: true, Metric: "accuracy"}, {Metric: "loss"},
		{}} {
		rows := textRows()
		slices.SortFunc(rows, func(a, b table.Row) int { return int(a.Index - b.Index) })
		options := table.TableOptions{Objective: o, Schema: table.Schema{}.With(rows)}
		var want strings.Builder
		if err := table.WriteText(&want, table.Rank(rows, o), options); err != nil {
			t.Fatal(err)
		}
		options.Order = table.NewRanking(o)
		checkText(t, rows, options, want.String())
	}
}
