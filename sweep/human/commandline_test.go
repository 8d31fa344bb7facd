package human_test

import (
	"errors"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/human"
)

// TestCommandLine: what is shown of a command is what a shell makes of it when it is pasted.
func TestCommandLine(t *testing.T) {
	t.Parallel()
	words := []string{
		"", "a", "--lr=1e-3", "hello world", "it's", `"${@#--}"`, `back\slash`, `\'`, "$HOME",
		"`id`", "!x", "~", "*", "{host}", "#", "=x", "A=b",
		"two\nlines", "tab\there", "\x1b[31mred", "é", "日本", "\u202eevil", "\xff\xfe", "\u00a0",
		"7\x017", "\n7", "'\n'", ";", "&&", "-", "a=~b", "%s",
	}
	random := rand.New(rand.NewPCG(1, 2))
	var want []string
	var script strings.Builder
	for i := range 500 {
		argv := []string{words[i%len(words)]}
		for range random.IntN(4) {
			argv = append(argv, words[random.IntN(len(words))]+words[random.IntN(len(words))])
		}
		line := human.CommandLine(argv)
		if strings.ContainsFunc(line, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Fatalf("%q is shown as %q", argv, line)
		}
		want = append(want, strings.Join(argv, "\x00")+"\x00\x00")
		script.WriteString("show " + line + "\n")
	}
	command := exec.Command("bash", "--norc", "-c", `show() { printf '%s\0' "$@"; printf '\0'; }; `+
		script.String())
	out, err := command.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		t.Fatalf("%v: %s", err, exit.Stderr)
	} else if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Join(want, ""), string(out)); diff != "" {
		t.Error(diff)
	}
	for argv, want := range map[string]string{"FOO=bar": "'FOO=bar'", "./run": "./run"} {
		if got := human.CommandLine([]string{argv, "A=b"}); got != want+" A=b" {
			t.Errorf("%s", got)
		}
	}
}
