package worker_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"mlframework/sweep/human"
	"mlframework/sweep/metric"
	"mlframework/sweep/task"
	"mlframework/sweep/worker"
)

// The reason of a failure has what the program said of it last.
func TestTheReasonHasTheLastLine(t *testing.T) {
	t.Parallel()
	const traceback = `cat >&2 <<'END'
Traceback (most recent call last):
  File "/p/train.py", line 42, in <module>
    net = nets[name]
          ~~~~^^^^^^
KeyError: 'LSTMM'
END
exit 1`
	s := newSite(t, nil, func(o *worker.Options) { o.OutputLimit = 1 << 10 })
	for i, c := range []struct{ name, script, want string }{
		{"an exception", traceback, "exit code 1: KeyError: 'LSTMM'"},
		{"a message", "echo start; echo no data >&2; echo end; exit 7", "exit code 7: no data"},
		{"a signal", "echo broken >&2; kill -SEGV $$", "ended by SIGSEGV: broken"},
		{"an error on stdout alone", "echo loss=0.5; echo ERROR: no data; exit 2",
			"exit code 2: ERROR: no data"},
		{"no error on stdout", "echo loss=0.5; exit 2", "exit code 2"},
		{"a signal, and an error on stdout", "echo an error that is over; kill -KILL $$",
			"ended by SIGKILL"},
		{"nothing", "exit 2", "exit code 2"},
		{"well", "echo an error >&2", ""},
		{"a line of 1 MB",
			"{ printf 'ValueError: '; head -c 1000000 /dev/zero | tr '\\0' x; } >&2; exit 1",
			"exit code 1: ValueError: " + strings.Repeat("x", 187) + "…"},
		{"Latin-1 and colours", `printf '\033[31mung\374ltig\033[0m\n' >&2; exit 1`,
			"exit code 1: ungültig"},
		{"behind the file's ceiling",
			"head -c 3000000 /dev/zero | tr '\\0' '\\n' >&2; echo at the end >&2; exit 1",
			"exit code 1: at the end"},
		{"what a process says that it left",
			"(trap '' TERM; sleep 1; echo later >&2) & echo first >&2; exit 1",
			"exit code 1: first"},
	} {
		b := batch(c.script, int64(i))
		b.Sweep = fmt.Sprintf("train-%d", i)
		s.send(b)
		o := s.ended(int64(i), 1)
		if o.Reason != c.want || !utf8.ValidString(o.Reason) ||
			(o.Class == task.Success) != (c.want == "") {
			t.Errorf("%s: %s, %q, want %q", c.name, o.Class, o.Reason, c.want)
		}
	}
}

// Where the user's own code failed is told beside the reason, as from the task's folder.
func TestTheFrameOfAFailure(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	for i, c := range []struct{ file, want string }{
		{"$OUTPUT_DIR/nets/conv.py", "nets/conv.py:9"}, {"$(pwd -P)/train.py", "train.py:9"},
		{"train.py", "train.py:9"}, {"/usr/lib/python3.12/json.py", ""},
	} {
		b := batch(`printf 'Traceback (most recent call last):\n  File "%s", line 9, in f\nKeyError: 1\n' `+
			`"`+c.file+`" >&2; exit 1`, int64(i))
		b.Sweep = fmt.Sprintf("train-%d", i)
		s.send(b)
		if o := s.ended(int64(i), 1); o.Reason != "exit code 1: KeyError: 1" || o.Frame != c.want {
			t.Errorf("%s: %q, %q", c.file, o.Reason, o.Frame)
		}
	}
}

// A secret is hidden in the reason, also where it is cut, or has escape sequences in it.
func TestTheReasonHidesSecrets(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil, func(o *worker.Options) {
		o.OwnSecrets, o.Inherited = true,
			append(o.Inherited, "KEY=s3cr3t-value")
	})
	for i, script := range []string{
		`echo "no access with $KEY" >&2; exit 1`,
		`printf 'no access with s3cr3t\033[1m-value\n' >&2; exit 1`,
	} {
		b := secretive(script, "", int64(i))
		b.Sweep = fmt.Sprintf("train-%d", i)
		s.send(b)
		if o := s.ended(int64(i), 1); o.Reason != "exit code 1: no access with ********" {
			t.Errorf("%q", o.Reason)
		}
	}
	long := strings.Repeat("x", 195-len("exit code 1: "))
	s.send(secretive("echo "+long+" s3cr3t-value >&2; exit 1", "", 5))
	if o := s.ended(5, 1); strings.Contains(o.Reason, "s3cr") {
		t.Errorf("%q", o.Reason)
	}
}

// However long a reason would be, the end of its attempt arrives: the middle is left out.
func TestALongReasonIsShortened(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	long := strings.Repeat("ü", 10<<10)
	for i, c := range []struct {
		name   string
		change func(*task.Recipe)
		begins string
	}{
		{"a program", func(r *task.Recipe) { r.Command = []string{long} },
			"exit code 127: start üüü"},
		{"a file of parameters", func(r *task.Recipe) { r.File = &task.File{From: long} },
			"not started on gpu1: "},
		{"a working directory", func(r *task.Recipe) { r.Workdir = long },
			"not started on gpu1: "},
	} {
		b := batch("true", int64(i))
		b.Sweep = fmt.Sprintf("train-%d", i)
		c.change(&b.Recipe)
		s.send(b)
		o := s.ended(int64(i), 1)
		if n := utf8.RuneCountInString(o.Reason); !utf8.ValidString(o.Reason) || n != 600 ||
			!strings.HasPrefix(o.Reason, c.begins) {
			t.Errorf("%s: %d characters, %q", c.name, n, o.Reason)
		}
	}
}

// What a reason says of names of files cannot move a cursor, nor begin a line of its own.
func TestTheReasonIsPrintable(t *testing.T) {
	t.Parallel()
	const name = "no\x1b[2J\xffprogram\nsucceeded"
	s := newSite(t, nil)
	missing := batch("", 0)
	missing.Recipe.Command = []string{"./" + name}
	linked := batch("exit 0", 1)
	linked.Recipe.Links = map[string]string{"data": "/gone/" + name}
	unread := batch(`mkdir "$(printf 'm\033.csv')"`, 2)
	unread.Recipe.Metrics = []metric.Rule{{Name: "acc", File: "m\x1b.csv", Column: "acc"}}
	for _, b := range []task.Batch{missing, linked, unread} {
		s.send(b)
		o := s.ended(b.Attempts[0].Index, 1)
		said := strings.Join(append(o.Unmeasured, o.Reason), "")
		if said == "" || said != human.Visible(said) {
			t.Errorf("task %d: %s, %q", b.Attempts[0].Index, o.Class, said)
		}
	}
}
