package infra_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"mlframework/infra"
	"mlframework/infra/layout"
)

// shell runs a script as a host does.
func shell(t *testing.T, script, in string, args ...string) string {
	t.Helper()
	c := exec.CommandContext(t.Context(), "sh", append([]string{"-c", script, "sh"}, args...)...)
	var said bytes.Buffer
	c.Stdin, c.Stderr = strings.NewReader(in), &said
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, said.String())
	}
	return string(out)
}

// The audit on the master's host takes lines, is bounded, and is read with that of the monitor, without what others linked
// there. Where the cluster's folder is gone, nothing is made.
func TestTheAuditOfTheMastersHost(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	file := filepath.Join(root, "audit.jsonl")
	enter := func(line string) { t.Helper(); shell(t, infra.EnterJournal, line+"\n", root, "audit.jsonl", "100") }
	enter("nobody's")
	if _, err := os.Stat(file); err == nil {
		t.Error("a folder that is no cluster's got a file")
	}
	for name, text := range map[string]string{".mlframework-root": "{}", "monitor/audit.jsonl": "came in 1\ncame in 2\n", "elsewhere": "a secret\n"} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../elsewhere", filepath.Join(root, "monitor", "audit-refused.jsonl")); err != nil {
		t.Fatal(err)
	}
	for n := range 25 {
		enter(fmt.Sprintf("change %2d", n)) // 10 bytes
	}
	if info, err := os.Stat(file); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	read := func(lines string) (text string) {
		printed := shell(t, infra.ReadJournal, "", append([]string{root, lines, "1000"}, layout.Audits()...)...)
		for _, l := range infra.JournalLines(printed) {
			if l.Monitor != strings.HasPrefix(l.Text, "came in") {
				t.Errorf("%+v", l)
			}
			text += l.Text + "\n"
		}
		return text
	}
	all := read("1000")
	if strings.Contains(all, "secret") || strings.Count(all, "change") != 15 || !strings.HasPrefix(all, "change 10\n") ||
		!strings.HasSuffix(all, "change 24\ncame in 1\ncame in 2\n") {
		t.Errorf("it is\n%s", all)
	}
	if got, want := read("1"), "change 19\nchange 24\ncame in 2\n"; got != want {
		t.Errorf("of each the last: %q, want %q", got, want)
	}
}
