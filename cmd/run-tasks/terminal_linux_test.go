package main_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// moves are the codes with which the bar is drawn anew: up so many lines, and clear to the end of
// the screen or line.
var moves = regexp.MustCompile("\x1b\\[[0-9]*[AJK]")

// screen is what stands on the terminal in the end, line by line.
func screen(t *testing.T, text string, columns int) []string {
	t.Helper()
	lines, row := []string{""}, 0
	for len(text) > 0 {
		if at := moves.FindStringIndex(text); at != nil && at[0] == 0 {
			n := 1
			_, _ = fmt.Sscanf(text[2:at[1]-1], "%d", &n)
			switch text[at[1]-1] {
			case 'A':
				row = max(0, row-n)
			case 'J':
				lines = append(lines[:row:row], "")
			}
			text = text[at[1]:]
			continue
		}
		switch c := text[0]; {
		case c == '\n':
			if row++; row == len(lines) {
				lines = append(lines, "")
			}
		case c == '\r': // what follows begins the line anew
			if !strings.HasPrefix(text[1:], "\n") {
				lines[row] = ""
			}
		case c < ' ':
			t.Fatalf("a control character came through: %q", text[:min(len(text), 40)])
		default:
			lines[row] += string(c)
		}
		text = text[1:]
	}
	for _, l := range lines {
		if strings.HasPrefix(l, "[") && len(l) > columns {
			t.Errorf("wider than the terminal: %q", l)
		}
	}
	return lines
}

// wild prints what would break a terminal, then waits to be let go.
const wild = `printf '\033[31mtask %s\033[0m \033[2J\033]0;t\007\n' "$TASK_INDEX"
until test -e ../../../go; do sleep 0.02; done
`

func TestTerminal(t *testing.T) {
	t.Parallel()
	for _, columns := range []int{80, 40} {
		t.Run(fmt.Sprint(columns), func(t *testing.T) {
			t.Parallel()
			term, f := openTerminal(t, uint16(columns)), newFolder(t, "grace: 30s", wild)
			c := f.start(term.tty, "--local", "-d", "p", "--slots", "2", "-v", "work")
			f.running(2)
			for _, want := range []string{"work-1 0/4 [--", "] 2 running", "task 0", "task 1"} {
				eventually(t, deadline, want, func() bool {
					return strings.Contains(term.seen.String(), want)
				})
			}
			f.write("go", "")
			if code := c.wait(); code != 0 {
				t.Errorf("exit code %d", code)
			}
			if code := f.start(term.tty, "ls", "--local").wait(); code != 0 {
				t.Errorf("ls: exit code %d", code)
			}
			text := term.text()
			lines := screen(t, text, columns)
			if at := slices.IndexFunc(lines, func(l string) bool {
				return strings.HasPrefix(l, "SWEEP ")
			}); at < 0 || len(lines[at]) > columns || !strings.HasPrefix(lines[at+1], "work-1 ") {
				t.Errorf("ls does not fit:\n%s", strings.Join(lines, "\n"))
			}
			for i := range 4 {
				tag := fmt.Sprintf("%d ", i)
				if !slices.ContainsFunc(lines, func(l string) bool {
					return strings.HasPrefix(l, tag) && strings.HasSuffix(l,
						fmt.Sprintf(`| task %d \x1b[2J\x1b]0;t\a`, i))
				}) {
					t.Errorf("the output of task %d is missing:\n%s", i, strings.Join(lines, "\n"))
				}
			}
			if left := slices.IndexFunc(lines, func(l string) bool {
				return strings.Contains(l, "##") || strings.Contains(l, "--]")
			}); left >= 0 {
				t.Errorf("the bar is left on the screen: %q", lines[left])
			}
			if !slices.ContainsFunc(lines, func(l string) bool {
				return strings.HasPrefix(l, "work-1: 4 tasks: 4 succeeded, in ")
			}) {
				t.Errorf("the end is missing:\n%s", strings.Join(lines, "\n"))
			}
		})
	}
}

// Without -v, a terminal shows the output of a single task only.
func TestTerminalWithoutOutput(t *testing.T) {
	t.Parallel()
	term, f := openTerminal(t, 80), newFolder(t, "grace: 30s", wild)
	f.write("go", "")
	for _, args := range [][]string{{"-d", "p", "work"}, {"-d", "p", "--limit", "1", "work"}} {
		if code := f.start(term.tty, append([]string{"--local"}, args...)...).wait(); code != 0 {
			t.Errorf("%q: exit code %d", args, code)
		}
	}
	several, single, both := strings.Cut(term.text(), "work-1: 4 tasks: 4 succeeded")
	if !both || strings.Contains(several, "| task ") || !strings.Contains(single, "| task 0") {
		t.Errorf("got %q", term.text())
	}
	if !strings.Contains(single, "output: "+filepath.Base(program)+" logs work-1\r\n") {
		t.Errorf("the command that prints the output is missing: %q", single)
	}
}

// Ctrl-C on a terminal, once.
func TestTerminalInterrupted(t *testing.T) {
	t.Parallel()
	term, f := openTerminal(t, 80), newFolder(t, "grace: 30s", polite)
	c := f.start(term.tty, "--local", "-d", "p", "--slots", "2", "work")
	f.running(3)
	term.press(t, "\x03")
	if code := c.wait(); code != 130 {
		t.Errorf("exit code %d", code)
	}
	text := term.text()
	for _, want := range []string{"stopping work-1; press Ctrl-C again to kill its tasks now",
		"work-1 is paused (interrupted); to continue: run-tasks resume work-1"} {
		if !strings.Contains(text, want) {
			t.Errorf("it does not say %q:\n%q", want, text)
		}
	}
	if got := f.lines("stopped"); len(got) != 2 {
		t.Errorf("%d attempts got SIGTERM", len(got))
	}
	f.dead(0)
	f.complete("--slots", "2")
}

// Ctrl-C on a terminal, twice.
func TestTerminalInterruptedTwice(t *testing.T) {
	t.Parallel()
	term, f := openTerminal(t, 80), newFolder(t, "grace: 30s", stubborn)
	c := f.start(term.tty, "--local", "-d", "p", "--slots", "2", "work")
	f.running(3)
	term.press(t, "\x03")
	eventually(t, deadline, "it stops", func() bool {
		return strings.Contains(term.seen.String(), "Ctrl-C again")
	})
	term.press(t, "\x03")
	f.dead(deadline, c.pid())
	if code := c.wait(); code != 130 {
		t.Errorf("exit code %d", code)
	}
	f.complete("--slots", "2")
}

// A person is asked before the newest sweep is cancelled.
func TestTerminalAsksBeforeItCancels(t *testing.T) {
	t.Parallel()
	f := newFolder(t, "grace: 30s", polite)
	if _, stderr, code := f.run("--local", "-d", "p", "--slots", "2", "--detach", "work"); code != 0 {
		t.Fatal(stderr)
	}
	f.running(3)
	f.known(2, 1)
	for _, k := range []struct {
		answer string
		code   int
		says   string
	}{{"n", 1, "nothing was cancelled"}, {"y", 0, "work-1 is cancelled"}} {
		term := openTerminal(t, 80)
		c := f.start(term.tty, "cancel")
		eventually(t, deadline, "a question", func() bool {
			return strings.Contains(term.seen.String(), "Cancel work-1, which is running, with 1 of 4 "+
				"tasks done? [y/N] ")
		})
		term.press(t, k.answer+"\r")
		c.ends(k.code)
		if text := term.text(); !strings.Contains(text, k.says) {
			t.Errorf("it says %q", text)
		}
	}
}

// Output on a terminal is made visible, and characters that lie across two reads stay whole.
func TestTerminalLogs(t *testing.T) {
	t.Parallel()
	f := newFolder(t, "grace: 1s", `test $TASK_INDEX = 0 || exit 0
printf x; i=0; while test $i -lt 20000; do echo éé; i=$((i+1)); done; printf '\033[2J\n'`)
	if _, stderr, code := f.run("--local", "-d", "p", "work", "--quiet"); code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	term := openTerminal(t, 80)
	c := f.start(term.tty, "logs", "work-1/0")
	if code := c.wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	want := "x" + strings.Repeat("éé\r\n", 20000) + `\x1b[2J` + "\r\n"
	if got := term.text(); got != want {
		t.Errorf("%d bytes instead of %d, and they end %q", len(got), len(want),
			got[max(0, len(got)-40):])
	}
}

// A terminal says what a command waits for where the master's host does not answer.
func TestTerminalSaysThatItWaitsForTheHost(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0") // nobody takes its connections
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	term, dir := openTerminal(t, 80), t.TempDir()
	config := "hosts: [\"anna@" + silent.Addr().String() + "\"]\nmaster: 1\nname: c\n"
	if err := os.WriteFile(filepath.Join(dir, "cluster.yml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, "ls")
	cmd.Dir, cmd.Env, cmd.Stderr = dir, append(os.Environ(), "HOME="+dir), term.tty
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	const says = "127.0.0.1  waiting for the master's host to answer"
	eventually(t, deadline, "it says what it waits for", func() bool {
		return strings.Contains(term.seen.String(), says)
	})
	silent.Close()
	_ = cmd.Wait()
	text := term.text()
	if _, after, _ := strings.Cut(text, says); cmd.ProcessState.ExitCode() != 4 ||
		!strings.HasPrefix(after, "\r\x1b[Krun-tasks: connect to anna@127.0.0.1") {
		t.Errorf("%d: %q", cmd.ProcessState.ExitCode(), text)
	}
}
