package main_test

import (
	"strings"
	"testing"
	"time"
)

// reported is how soon what a task printed is to be seen: the worker reports a second after the
// first value. It is longer here only where the machine is slow.
const reported = deadline

// improves prints a value, waits to be let go, prints a better one, and waits again. Its first task
// only prints one.
const improves = `if test $TASK_INDEX = 0; then echo acc=0.9; exit; fi
if test $TASK_INDEX != 1; then exit; fi
echo acc=0.5
until test -e ../../../more; do sleep 0.02; done
echo acc=0.75
until test -e ../../../go; do sleep 0.02; done
`

// The progress line has the newest value of a running task and the best so far, in the terminal
// that runs the sweep and in one that follows it.
func TestTerminalShowsNewest(t *testing.T) {
	t.Parallel()
	f := newFolder(t, "metrics: {acc: 'acc=(.*)'}, objective: maximize acc", improves)
	first, second := openTerminal(t, 120), openTerminal(t, 120)
	runner := f.start(first.tty, "--local", "-d", "p", "--slots", "1", "--no-output", "work")
	shown := func(term *terminal, what string) {
		t.Helper()
		since := time.Now()
		defer func() {
			if t.Failed() {
				t.Logf("the terminal has %q", term.seen)
			}
		}()
		eventually(t, reported, what, func() bool {
			return strings.Contains(term.seen.String(), what)
		})
		t.Logf("%q was shown after %v", what, time.Since(since).Round(time.Millisecond))
	}
	const before, after = "best 0.9 (#0), 1 running, now acc=0.5 (#1)",
		"best 0.9 (#0), 1 running, now acc=0.75 (#1)"
	shown(first, before)
	follower := f.start(second.tty, "follow", "--no-output")
	shown(second, before) // what was reported before it came
	f.write("more", "")
	shown(first, after)
	shown(second, after)
	f.write("go", "")
	if code := runner.wait(); code != 0 {
		t.Errorf("the runner's exit code is %d", code)
	}
	if code := follower.wait(); code != 0 {
		t.Errorf("the follower's exit code is %d", code)
	}
}
