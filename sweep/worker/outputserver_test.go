package worker_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/metric"
	"mlframework/sweep/task"
	"mlframework/sweep/worker"
)

// ask sends a read and returns the answer.
func (s *site) ask(c task.Control) task.Piece {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	c.Kind, c.Read.ID = task.ReadControl, "7"
	s.tell(c)
	p, ok := <-s.queue.Pieces(ctx)
	if !ok {
		s.t.Fatal("no answer")
	}
	return p
}

func TestLogName(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		there   string
		attempt int
		want    string
	}{
		{"", 0, "stderr.log"}, {"", 1, "stderr.log"}, {"", 2, "stderr.2.log"},
		{"stdout.log stdout.1.log", 0, "stderr.log"}, {"stdout.log stdout.1.log", 1,
			"stderr.1.log"},
		{"stdout.log stdout.1.log", 2, "stderr.log"}, {"stdout.log stdout.1.log", 3,
			"stderr.3.log"},
		{"stdout.log stdout.1.log stdout.2.log", 2,
			"stderr.2.log"}, {"stdout.log stdout.1.log stdout.2.log", 3, "stderr.log"},
	} {
		has := func(name string) bool { return strings.Contains(" "+c.there+" ", " "+name+" ") }
		if got := worker.LogName("stderr", c.attempt, "", has); got != c.want {
			t.Errorf("%q, attempt %d: %s; want %s", c.there, c.attempt, got, c.want)
		}
	}
}

func TestReadingOutput(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	b := batch(`if [ $ATTEMPT = 1 ]; then echo first; echo err >&2
		else echo second; head -c 300000 /dev/zero; fi`, 3)
	s.send(b)
	s.ended(3, 1)
	b.Attempts[0].Number = 2
	s.send(b)
	if o := s.ended(3, 2); o.Class != task.Success {
		t.Fatal(o)
	}
	if err := os.WriteFile(filepath.Join(s.base, "secret"), []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	long := "second\n" + strings.Repeat("\x00", 300000)
	for _, c := range []struct {
		name string
		ask  task.Control
		want task.Piece // Error is a part of it
	}{
		{"newest", task.Control{Read: &task.Read{Length: 3}},
			task.Piece{Data: []byte("sec"), Size: 300007}},
		{"newest by number", task.Control{Attempt: 2, Read: &task.Read{Offset: 3, Length: 3}},
			task.Piece{Offset: 3, Data: []byte("ond"), Size: 300007}},
		{"at most MaxPieceBytes", task.Control{Read: &task.Read{Length: 1 << 30}},
			task.Piece{Data: []byte(long[:task.MaxPieceBytes]), Size: 300007}},
		{"its end", task.Control{Read: &task.Read{Offset: 300005, Length: 100}},
			task.Piece{Offset: 300005, Data: []byte("\x00\x00"), Size: 300007}},
		{"behind its end", task.Control{Read: &task.Read{Offset: 1 << 40, Length: 9}},
			task.Piece{Offset: 1 << 40, Size: 300007}},
		{"only its size", task.Control{Read: &task.Read{}}, task.Piece{Size: 300007}},
		{"earlier", task.Control{Attempt: 1, Read: &task.Read{Length: 99}},
			task.Piece{Data: []byte("first\n"), Size: 6}},
		{"earlier, stderr", task.Control{Attempt: 1, Read: &task.Read{Stderr: true, Length: 99}},
			task.Piece{Data: []byte("err\n"), Size: 4}},
		{"nothing printed", task.Control{Read: &task.Read{Stderr: true, Length: 99}},
			task.Piece{Absent: true}},
		{"no such attempt", task.Control{Attempt: 9, Read: &task.Read{Length: 99}},
			task.Piece{Absent: true}},
		{"no such task", task.Control{Index: 5, Read: &task.Read{Length: 99}},
			task.Piece{Absent: true, Gone: filepath.Join(s.outputs, "train-1", "5")}},
		{"no such sweep", task.Control{Sweep: "train-9", Read: &task.Read{Length: 99}},
			task.Piece{Absent: true, Gone: filepath.Join(s.outputs, "train-9", "3")}},
		{"a negative offset", task.Control{Read: &task.Read{Offset: -1, Length: 9}},
			task.Piece{Offset: -1, Error: "negative offset or length"}},
		{"a negative length", task.Control{Read: &task.Read{Length: -1}},
			task.Piece{Error: "negative offset or length"}},
		{"a negative task", task.Control{Index: -3, Read: &task.Read{Length: 9}},
			task.Piece{Error: "no attempt"}},
		{"a negative attempt", task.Control{Attempt: -1, Read: &task.Read{Length: 9}},
			task.Piece{Error: "no attempt"}},
		{"a name that leads out", task.Control{Sweep: "../secret", Read: &task.Read{Length: 9}},
			task.Piece{Error: "is not a valid folder name"}},
		{"no name", task.Control{Sweep: "..", Read: &task.Read{Length: 9}},
			task.Piece{Error: "is not a valid folder name"}},
	} {
		if c.ask.Sweep == "" {
			c.ask.Sweep = "train-1"
		}
		if c.ask.Index == 0 {
			c.ask.Index = 3
		}
		got := s.ask(c.ask)
		if (got.File == "") != (got.Absent || got.Error != "") {
			t.Errorf("%s: its file is %q", c.name, got.File)
		}
		got.File = ""
		if strings.Contains(got.Error, c.want.Error) && c.want.Error != "" {
			got.Error = c.want.Error
		}
		c.want.Version, c.want.ID, c.want.Worker = task.Version, "7", "w1"
		if len(c.want.Data) == 0 && got.Data != nil && len(got.Data) == 0 {
			got.Data = nil
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %.500s", c.name, diff)
		}
	}
}

// Who read an attempt's output to some place goes on there after the file was renamed, and then at
// the next one's beginning.
func TestReadingGoesOnInTheNextFile(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	b := batch("echo output $ATTEMPT; test $ATTEMPT = 2 || echo error >&2", 3)
	run := func(n int) {
		b.Attempts[0].Number = n
		s.send(b)
		s.ended(3, n)
	}
	read := func(stderr bool, after task.Piece) task.Piece {
		return s.ask(task.Control{Sweep: "train-1", Index: 3,
			Read: &task.Read{Stderr: stderr, Length: 9, File: after.File,
				Offset: after.Offset + int64(len(after.Data))}})
	}
	run(1)
	stdout, stderr := read(false, task.Piece{}), read(true, task.Piece{})
	for _, stream := range []bool{false, true} {
		if p := read(stream, map[bool]task.Piece{false: stdout,
			true: {File: stderr.File, Offset: 6}}[stream]); stream && len(p.Data) > 0 || p.Absent {
			t.Errorf("there is more: %+v", p)
		}
	}
	run(2)
	run(3)
	var texts []string
	for range 7 {
		texts = append(texts, string(stdout.Data))
		stdout = read(false, stdout)
	}
	if got := strings.Join(texts, ""); got != "output 1\noutput 2\noutput 3\n" {
		t.Errorf("%q", texts)
	}
	if p := read(true, stderr); string(p.Data) != "error\n" || p.File == stderr.File ||
		p.Offset != 0 {
		t.Errorf("standard error, which the second attempt did not have: %+v after %+v", p, stderr)
	}
	for _, file := range []string{"w2:1", "w1:1", "w1:x", "w1"} {
		if p := read(false, task.Piece{File: file, Offset: 5}); string(p.Data) != "output 3\n" {
			t.Errorf("of a file that is not here, %s: %+v", file, p)
		}
	}
}

// What a program put in the place of its output is not read, and nothing waits for it.
func TestReadingNeverLeavesTheFolder(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	secret := filepath.Join(s.base, "secret")
	s.must(os.MkdirAll(secret, 0o700))
	s.must(os.WriteFile(filepath.Join(secret, "stdout.log"), []byte("secret"), 0o600))
	for i, c := range []struct{ name, script, want string }{
		{"a link to a file", `ln -sf SECRET/stdout.log stdout.log`, "is a link"},
		{"a link that leads up", `ln -sf ../../../secret/stdout.log stdout.log`, "is a link"},
		{"a link to nothing", `ln -sf none stdout.log`, "is a link"},
		{"a pipe", `rm stdout.log; mkfifo stdout.log`, "no longer a file"},
		{"a folder", `rm stdout.log; mkdir stdout.log`, "no longer a file"},
		{"the folder is a link", `cd ..; mv "$TASK_INDEX" moved; ln -s SECRET "$TASK_INDEX"`,
			"open"},
	} {
		b := batch(`eval "$1"`, int64(i))
		b.Attempts[0].Args = []string{strings.ReplaceAll(c.script, "SECRET", secret)}
		s.send(b)
		s.ended(int64(i), 1)
		begin := time.Now()
		got := s.ask(task.Control{Sweep: "train-1", Index: int64(i), Read: &task.Read{Length: 100}})
		if !strings.Contains(got.Error, c.want) || len(got.Data) > 0 ||
			time.Since(begin) > limit/2 {
			t.Errorf("%s: %+v after %v; want %q", c.name, got, time.Since(begin), c.want)
		}
	}
}

// A worker that is asked for much output obeys all the same.
func TestReadsDoNotHoldUpOtherMessages(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	s.run("head -c 300000 /dev/zero")
	for range 1000 {
		s.tell(task.Control{Kind: task.ReadControl, Sweep: "train-1",
			Read: &task.Read{Length: task.MaxPieceBytes}})
	}
	s.tell(task.Control{Kind: task.ReadControl, Sweep: "train-1"}) // without its place
	s.obeyed()
	if p := s.ask(task.Control{Sweep: "train-1", Read: &task.Read{Length: 1}}); p.Size != 300000 {
		t.Errorf("%+v", p)
	}
}

// A measure that was forgotten is not read to its end and not answered, queued or begun.
func TestForgottenMeasures(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	s.send(batch("echo acc=3; if [ $TASK_INDEX = 0 ]; then truncate -s 1T stdout.log; fi", 0, 1))
	s.ended(0, 1)
	s.ended(1, 1)
	ask := func(k task.ControlKind, index int64, id string) {
		by := task.Measure{ID: id, Metrics: []metric.Rule{{Name: "acc", Pattern: `acc=(\S+)`}}}
		s.tell(task.Control{Kind: k, Sweep: "train-1", Index: index, Measure: &by})
	}
	ask(task.MeasureControl, 0, "large")
	ask(task.MeasureControl, 0, "in line")
	ask(task.ForgetControl, 0, "in line")
	ask(task.ForgetControl, 0, "large")
	ask(task.ForgetControl, 0, "unknown")
	ask(task.MeasureControl, 1, "small")
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	if p := <-s.queue.Pieces(ctx); p.ID != "small" || p.Measured == nil ||
		len(p.Measured.Metrics) != 1 {
		t.Errorf("%+v", p)
	}
}

func TestFollowingEndsForOneSweepOrAll(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	lines := s.queue.Lines(t.Context())
	follow := func(sweep string, off bool) {
		s.tell(task.Control{Kind: task.FollowControl,
			Sweep: sweep, Off: off})
	}
	for i, c := range []struct {
		change func()
		want   string // the sweeps whose lines come
	}{
		{func() { follow("train-1", false); follow("train-2", false) }, "train-1 train-2"},
		{func() { follow("train-1", true) }, "train-2"},
		{func() { follow("train-1", false); follow("", true) }, ""},
		{func() { follow("", false) }, ""},
		{func() { follow("train-2", false) }, "train-2"},
	} {
		c.change()
		s.obeyed()
		got := map[string]bool{}
		for n, sweep := range []string{"train-1", "train-2"} {
			b := batch("echo line", int64(10*i+n))
			b.Sweep = sweep
			s.send(b)
			s.ended(int64(10*i+n), 1) // its lines came before
			if strings.Contains(c.want, sweep) {
				got[(<-lines).Sweep] = true
			}
		}
		select {
		case l := <-lines:
			t.Errorf("%d: a line of %s", i, l.Sweep)
		default:
		}
		for sweep := range strings.FieldsSeq(c.want) {
			if !got[sweep] {
				t.Errorf("%d: lines of %v; want %s", i, got, c.want)
			}
		}
	}
}

// What an attempt printed is found by its number, whichever of the task's attempts ran on this
// worker. The number of one that was killed before anybody knew that it had begun is used again:
// then the later one has it.
func TestOutputHasTheNumberOfItsAttempt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		// the attempts that run here, one after the other, each of which prints its place in this
		// list
		runs  []int
		want  map[int]string // by number; "": there is none
		other string         // files
	}{
		{"all", []int{1, 2, 3}, map[int]string{0: "2", 1: "0", 2: "1", 3: "2", 4: ""}, ""},
		{"one was given back", []int{1, 3}, map[int]string{0: "1", 1: "0", 2: "", 3: "1"}, ""},
		{"then one more", []int{1, 3, 4}, map[int]string{0: "2", 1: "0", 2: "", 3: "1", 4: "2"},
			""},
		{"the first ran elsewhere", []int{2}, map[int]string{0: "0", 1: "", 2: "0", 3: ""}, ""},
		{"every other one", []int{2, 4, 6}, map[int]string{0: "2", 1: "", 2: "0", 3: "", 4: "1",
			5: "", 6: "2"}, ""},
		{"a number again", []int{1, 1, 2}, map[int]string{0: "2", 1: "1", 2: "2"},
			"stdout.killed-1.log"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, nil)
			for n, number := range c.runs {
				// another process of the worker: this one knows that it ran it
				if n > 0 && number <= c.runs[n-1] {
					s.stop()
					s.start(s.queue.Worker("w1"))
				}
				s.must(os.WriteFile(filepath.Join(s.base, "place"), []byte(fmt.Sprintln(n)), 0o600))
				b := batch("cat "+filepath.Join(s.base, "place"), 3)
				b.Attempts[0].Number = number
				s.send(b)
				printed := func() bool { return s.file(3, "stdout.log") == fmt.Sprintln(n) }
				poll(t, fmt.Sprintf("run %d, which is attempt %d, has printed", n, number), printed)
				s.ended(3, number)
			}
			for number, want := range c.want {
				p := s.ask(task.Control{Sweep: "train-1", Index: 3, Attempt: number,
					Read: &task.Read{Length: 99}})
				if got := strings.TrimSpace(string(p.Data)); got != want ||
					p.Absent != (want == "") || p.Error != "" {
					t.Errorf("attempt %d: %q (%+v), want %q; there are %v", number, got, p, want,
						s.names(3))
				}
			}
			if c.other != "" && s.file(3, c.other) != "0\n" {
				t.Errorf("%s has %q; there are %v", c.other, s.file(3, c.other), s.names(3))
			}
		})
	}
}
