package worker_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mlframework/sweep/metric"
	"mlframework/sweep/task"
	"mlframework/sweep/worker"
)

// What is wrong with a file of metrics is told without the secrets that it holds, also where a
// message has a part of one.
func TestProblemsOfMetricFilesHideSecrets(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	beats := s.queue.Heartbeats(ctx)
	b := secretive(`echo acc >m.csv; echo "$KEY" >>m.csv; echo "$KEY" >h.csv
		echo "acc" >"$KEY.txt"
		printf '{"x": 1}\n%s\n{"acc": {"a": 1}}\n' "$KEY" >l.jsonl`, "e1", 0)
	b.Recipe.Metrics = []metric.Rule{{Name: "a", File: "m.csv", Column: "acc"},
		{Name: "b", File: "h.csv", Column: "acc"},
		{Name: "c", File: "l.jsonl", Key: "acc"}, {Name: "d", File: "*.txt", Column: "none"}}
	s.send(b)
	value := "first line <of> it\nrecognisable " + strings.Repeat("and long ", 20)
	s.answers(s.needs(beats, "e1"), value)
	o := s.ended(0, 1)
	told := strings.Join(o.Unmeasured, "\n")
	for _, part := range []string{"first line", "recognisable", "and long"} {
		if strings.Contains(told, part) {
			t.Errorf("%q is told:\n%s", part, told)
		}
	}
	for _, part := range []string{`"********" in column "acc" of line 2`,
		`has no column "acc"; it has ********`, `line 2 is not JSON: "********`,
		`metric d: *.txt has no column`} {
		if !strings.Contains(told, part) {
			t.Errorf("%q is not told:\n%s", part, told)
		}
	}
}

// What is told of printed metrics hides secrets in the forms in which they pass the mask of the
// output: as JSON has them, or with terminal codes within.
func TestTextsOfPrintedMetricsHideSecrets(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	beats := s.queue.Heartbeats(ctx)
	b := secretive(`printf 'acc=pass\033[0m"word; recognisable\n'
		printf '{"metrics": {"loss": "pass\\"word; recognisable", ' >&2
		printf '"pass\\"word; recognisable": 1}}\n' >&2`, "e1", 0)
	b.Recipe.Metrics = []metric.Rule{{Name: "acc", Pattern: `acc=(.*)`}}
	s.send(b)
	s.answers(s.needs(beats, "e1"), `pass"word; recognisable`)
	o := s.ended(0, 1)
	told := fmt.Sprint(o.Metrics, o.Stdout.Unread, o.Stderr.Unread)
	if strings.Contains(told, "word") || strings.Count(told, "********") != 3 ||
		len(o.Stdout.Unread) != 1 || len(o.Stderr.Unread) != 1 {
		t.Error(told)
	}
	read, err := worker.MeasureTask(t.Context(), s.path(0, ""),
		task.Measure{Metrics: b.Recipe.Metrics, Hide: true}, noRevision)
	if told := fmt.Sprint(read.Stdout, read.Stderr); err != nil || strings.Contains(told, "word") {
		t.Errorf("read again: %s, %v", told, err)
	}
}

// A program that is killed may have written a part of a number.
func TestLastLineOfMetricFileCutOff(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	for index, c := range []struct{ script, want string }{
		{`exit 0`, "1.2345"},
		{`exit 3`, "1.2345"},
		{`kill -9 $$`, "0.5"},
		{`sh -c 'kill -9 $$'; exit $?`, "0.5"},
		{`sleep 60`, "0.5"},
	} {
		b := batch(`printf 'acc\n0.5\n1.2345' >m.csv; `+c.script, int64(index))
		b.Sweep = fmt.Sprintf("train-%d", index+1)
		b.Recipe.Metrics = []metric.Rule{{Name: "acc", File: "m.csv", Column: "acc"}}
		b.Recipe.Timeout, b.Recipe.Grace = 2*time.Second, time.Second
		s.send(b)
		o := s.ended(int64(index), 1)
		value, _ := o.Metrics.Get("acc")
		if got := fmt.Sprint(value); got != c.want {
			t.Errorf("%s: %s %s, want %s", c.script, o.Class, got, c.want)
		}
		if c.script == "sleep 60" && o.Class != task.TimedOut {
			t.Error(o)
		}
	}
}

// The last value of a file that was not read to its end is not known: the one up to which it was
// read does not stand for it, nor does a printed one.
func TestFileThatIsNotReadToItsEndHasNoLastValue(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	text := "acc\n" + strings.Repeat("9\n", 1<<20) + "0.1\n"
	if err := os.WriteFile(filepath.Join(dir, "m.csv"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		take metric.Take
		want string
	}{{"", "loss=1"}, {metric.Last, "loss=1"}, {metric.Max, "loss=1 acc=9"}} {
		all, err := worker.FinalOfPart(dir, []metric.Rule{{Name: "acc", File: "m.csv",
			Column: "acc",
			Take:   c.take}}, 1<<20, `{"metrics": {"loss": 1, "acc": 2}}`+"\n")
		var got []string
		for _, m := range all {
			got = append(got, fmt.Sprintf("%s=%v", m.Name, m.Value))
		}
		if strings.Join(got, " ") != c.want || err != nil {
			t.Errorf("take %q: %v %v, want %s", c.take, got, err, c.want)
		}
	}
}

func noRevision(string) (string, error) { return "", fs.ErrNotExist }
