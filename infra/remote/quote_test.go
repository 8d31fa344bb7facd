package remote_test

import (
	"crypto/rand"
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"mlframework/infra/remote"
)

// shells that people log in with; sshd runs each as SHELL -c LINE.
var shells = []string{"sh", "bash", "dash", "zsh", "fish", "tcsh", "csh", "ksh", "mksh"}

func TestEveryLoginShellReadsALineAlike(t *testing.T) {
	t.Parallel()
	var all strings.Builder
	for c := rune(1); c < 0x180; c++ {
		all.WriteRune(c)
	}
	words := []string{"plain", "two words", "", "it's", `"$HOME"`, "`id`", "$(id)", `a\b\\c\'`,
		"!!", "!x", "%s%%", "a\nb\n", "^a^b",
		"*", "~", "{a,b}", "\xff\xfe", "x;y&z|(w)<v>#", "-e", "\\0101", all.String(),
		strings.Repeat("long ' ! ", 800)}
	for _, c := range []struct {
		name    string
		command remote.Command
		want    string
	}{
		{"words", remote.Command{Argv: append([]string{"printf", "<%s>"}, words...)},
			"<" + strings.Join(words, "><") + ">"},
		{"a script",
			remote.Command{Script: "if [ -n \"$0\" ]; then\n  printf '%s!\\n' \"it's\"\nfi"},
			"it's!\n"},
		{"a plain script", remote.Command{Script: `x=$(echo "a b"); echo "$x"`}, "a b\n"},
		{"the mark", remote.Command{Script: "echo $MLFRAMEWORK_RUN"}, "x\n"},
	} {
		line, err := remote.Line(c.command)
		if err != nil {
			t.Fatal(err)
		}
		ran := 0
		for _, shell := range shells {
			path, err := exec.LookPath(shell)
			if err != nil {
				continue
			}
			ran++
			cmd := exec.Command(path, "-c", line)
			cmd.Env = []string{"HOME=" + t.TempDir(), "PATH=/usr/bin:/bin"}
			if out, err := cmd.CombinedOutput(); err != nil || string(out) != "x\n"+c.want {
				t.Errorf("%s, %s: %v\ngot  %.300q\nwant %.300q", c.name, shell, err, out, c.want)
			}
		}
		if ran < 3 {
			t.Skipf("NOT TESTED: of the shells %v there are fewer than three", shells)
		}
	}
}

func TestLine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		command remote.Command
		want    string
	}{
		{remote.Command{Argv: []string{"docker", "ps", "-a"}},
			`exec env MLFRAMEWORK_RUN=x /bin/sh -c 'echo $MLFRAMEWORK_RUN;exec docker ps -a'`},
		{remote.Command{Argv: []string{"echo", "a b"}},
			`exec env MLFRAMEWORK_RUN=x /bin/sh -c 'echo $MLFRAMEWORK_RUN;eval "$(printf %b "exec echo \0047a b\0047")"'`},
		{remote.Command{Script: "cd /tmp && ls"},
			`exec env MLFRAMEWORK_RUN=x /bin/sh -c 'echo $MLFRAMEWORK_RUN;cd /tmp && ls'`},
	} {
		if got, err := remote.Line(c.command); err != nil || got != c.want {
			t.Errorf("got  %s, %v\nwant %s", got, err, c.want)
		}
	}
	if line, err := remote.Line(remote.Command{Script: strings.Repeat("x", 200_000)}); err == nil {
		t.Errorf("a line of %d bytes, which no host takes", len(line))
	}
}

// A busy host may begin with a command only after it is to end.
func TestTheEndOfACommandWaitsForItsBegin(t *testing.T) {
	mark := "MLFRAMEWORK_RUN=" + rand.Text()
	end := exec.CommandContext(t.Context(), "/bin/sh", "-c", remote.KillLine(mark, patience))
	if err := end.Start(); err != nil {
		t.Fatal(err)
	}
	late := exec.CommandContext(t.Context(), "sleep", "100")
	late.Env = append(os.Environ(), mark)
	err := late.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok ||
		exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGTERM {
		t.Errorf("it ended with %v", err)
	}
	if err := end.Wait(); err != nil {
		t.Error(err)
	}
}
