package worker_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/metric"
	"mlframework/sweep/task"
	"mlframework/sweep/worker"
)

// taken returns rules for the same lines, one for each way to take a value.
func taken() (rules []metric.Rule) {
	for _, take := range append(metric.Takes, "") {
		rules = append(rules, metric.Rule{Name: "acc " + string(take), Pattern: `acc=(\S+)`,
			Take: take})
	}
	return rules
}

// The values of attempts that ran in one folder are values of one task: of an attempt that prints
// none those before count.
func TestAnAttemptThatContinuesHasTheMetricsOfThoseBefore(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	b := batch(`case $ATTEMPT in
		1) echo acc=0.5; echo acc=0.9; echo acc=0.6 >&2; kill -9 $$;;
		2) echo acc=0.4; echo acc=0.7; (sleep 0.3; echo acc=99) & exit 1;;
		3) exit 1;;
		4) echo acc=0.65;;
	esac`, 0)
	b.Recipe.Metrics, b.Recipe.Grace = taken(), 1e9
	for attempt, want := range []string{
		"last 0.6 max 0.9 min 0.5 first 0.5  0.6",
		"last 0.7 max 0.9 min 0.4 first 0.5  0.7",
		"last 0.7 max 0.9 min 0.4 first 0.5  0.7",
		"last 0.65 max 0.9 min 0.4 first 0.5  0.65",
	} {
		b.Attempts[0].Number = attempt + 1
		s.send(b)
		o := s.ended(0, attempt+1)
		got := ""
		for i, m := range o.Metrics {
			if i > 0 {
				got += " "
			}
			got += fmt.Sprintf("%s %v", m.Name[len("acc "):], m.Value)
		}
		if got != want || o.Unmeasured != nil {
			t.Errorf("attempt %d: %s %v; want %s", attempt+1, got, o.Unmeasured, want)
		}
		read, err := worker.MeasureTask(t.Context(), s.path(0, ""),
			task.Measure{Metrics: b.Recipe.Metrics, Exited: o.Exited()}, noRevision)
		if diff := cmp.Diff(o.Metrics, metric.Final(read.Metrics)); diff != "" || err != nil {
			t.Errorf("attempt %d, read again: %s %v", attempt+1, diff, err)
		}
	}
}

// A task that begins anew elsewhere, or whose folder was removed, has only the values of its new
// folder.
func TestAnAttemptInANewFolderHasItsOwnMetrics(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	b := batch(`echo acc=0.$((10 - ATTEMPT)); exit 1`, 0)
	b.Recipe.Metrics = []metric.Rule{{Name: "acc", Pattern: `acc=(\S+)`, Take: metric.Max}}
	s.send(b, batch("", 1))
	s.ended(1, 1) // in the same slot
	s.must(os.RemoveAll(s.path(0, "")))
	b.Attempts[0].Number = 2
	s.send(b)
	if v, _ := s.ended(0, 2).Metrics.Get("acc"); v != 0.8 {
		t.Errorf("acc is %v, want 0.8", v)
	}
}

// Output of an attempt that was killed before its number was stored comes before that of the
// attempt which was given the same number.
func TestLogsAreReadInTheOrderOfTheirAttempts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i, name := range []string{"stdout.1.log", "stdout.killed-1.log", "stdout.2.log",
		"stdout.10.log", "stdout.killed-2.log", "stdout.log"} {
		at := filepath.Join(dir, name)
		if err := os.WriteFile(at, fmt.Appendf(nil, "acc=%d\n", i), 0o600); err != nil {
			t.Fatal(err)
		}
		changed(t, at, i)
	}
	for _, other := range []string{"stdout.x.log", "stdout.-1.log", "stdout.0.log",
		"stdout.3.log.gz"} {
		if err := os.WriteFile(filepath.Join(dir, other), []byte("acc=99\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for last := 5.0; last >= 0; last-- {
		read, err := worker.MeasureTask(t.Context(), dir,
			task.Measure{Metrics: []metric.Rule{{Name: "acc", Pattern: `acc=(\S+)`}}},
			noRevision)
		final := metric.Final(read.Metrics)
		if v, _ := final.Get("acc"); v != last || err != nil {
			t.Fatalf("the last value is %v %v, want %v", v, err, last)
		}
		for _, m := range final {
			if m.Span != nil && m.Span.High != nil &&
				(m.Span.Step != int64(last)+1 || math.Abs(m.Span.High.Value-last) > 0) {
				t.Errorf("%+v", *m.Span)
			}
		}
		name := []string{"stdout.1.log", "stdout.killed-1.log", "stdout.2.log", "stdout.10.log",
			"stdout.killed-2.log", "stdout.log"}[int(last)]
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		changed(t, filepath.Join(dir, name), int(last))
	}
}

// Where output was cut, the values that were printed later are known only to who saw them: the task
// is not measured, and a further attempt says that values are missing.
func TestMetricsOfOutputThatWasCut(t *testing.T) {
	t.Parallel()
	const cut = "output was cut, and what was printed after that is not there"
	printed := metric.Rule{Name: "acc", Pattern: `acc=(\S+)`}
	file := metric.Rule{Name: "x", File: "m.csv", Column: "x"}
	for _, c := range []struct {
		name, script string
		rules        []metric.Rule
		want         string // why it is not measured
	}{
		{"stdout", "echo acc=0.1; yes | head -c 2000; echo acc=0.9", []metric.Rule{printed}, cut},
		{"stderr", "(yes | head -c 2000; echo acc=0.9) >&2", []metric.Rule{printed, file}, cut},
		{"JSON lines", `echo '{"metrics": {"acc": 0.1}}'; yes | head -c 2000`, nil, cut},
		{"nothing is read there", "yes | head -c 2000", []metric.Rule{file}, "<nil>"},
		{"to the byte", "head -c 1000 /dev/zero", []metric.Rule{printed}, "<nil>"},
		{"a line like it", `printf 'a\n[cut here: x]\nacc=0.5\n'`, []metric.Rule{printed}, "<nil>"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, nil, ceiling(1000))
			b := batch(`printf 'x\n1\n' >m.csv; [ $ATTEMPT = 2 ] || { `+c.script+"; }; exit 1", 0)
			b.Recipe.Metrics = c.rules
			s.send(b)
			s.ended(0, 1)
			_, err := worker.MeasureTask(t.Context(), s.path(0, ""),
				task.Measure{Metrics: c.rules, Exited: true}, noRevision)
			if got := fmt.Sprint(err); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
			b.Attempts[0].Number = 2
			s.send(b)
			told := s.ended(0, 2).Unmeasured
			if c.want != cut && told != nil || c.want == cut && !slices.Contains(told,
				"the metrics of earlier attempts cannot all be read: "+cut) {
				t.Errorf("%q is told", told)
			}
		})
	}
}

func changed(t *testing.T, path string, minute int) {
	t.Helper()
	at := time.Date(2026, 3, 4, 5, minute, 0, 0, time.UTC)
	if err := os.Chtimes(path, at, at); err != nil {
		t.Fatal(err)
	}
}
