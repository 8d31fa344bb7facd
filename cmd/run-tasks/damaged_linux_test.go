package main_test

import (
	"os"
	"strings"
	"testing"
)

// TestMissingBesideDamage: `--missing` says of which sweeps it cannot read what succeeded.
func TestMissingBesideDamage(t *testing.T) {
	t.Parallel()
	f := newFolder(t, "code: [work.sh]", "")
	if _, stderr, code := f.run("--local", "-d", "p", "work"); code != 0 {
		t.Fatal(code, stderr)
	}
	text, err := os.ReadFile(f.path(".mlframework/store.db"))
	if err != nil {
		t.Fatal(err)
	}
	f.write(".mlframework/store.db", strings.ReplaceAll(string(text), `"definition":"work"`,
		`"definition"!"work"`))
	stdout, stderr, code := f.run("--local", "-d", "p", "--dry-run", "--missing", "work")
	want := "not all of work-1 can be read in the store: what succeeded there may run again\n"
	if code != 0 || !strings.Contains(stdout+stderr, want) {
		t.Errorf("exit code %d: %s%s", code, stdout, stderr)
	}
}
