package worker_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/worker"
)

// FuzzSpool opens a spool of anything. Lines that begin with ! are as they are, others get their
// checksums. What is written behind it is read, what was read before it is still read, and nothing
// is left where every record is an event.
func FuzzSpool(f *testing.F) {
	dir := f.TempDir()
	path := filepath.Join(dir, "events")
	if err := worker.AddToSpool(path, some(2)); err != nil {
		f.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add("!" + strings.TrimSuffix(strings.ReplaceAll(string(whole), "\n", "\n!"), "!"))
	f.Add(`{"version":11,"kind":"ended","worker":"w1","sweep":"train-1","index":3}` + "\n!torn")
	f.Add("{}\nnull\n\"text\"\n![]\n\n!00000000 ")
	f.Add(`{"time":"-"}` + "\n" + `{"outcome":{"exit_code":1e400}}`)
	f.Fuzz(func(t *testing.T, lines string) {
		var text string
		for line := range strings.SplitSeq(lines, "\n") {
			if raw, is := strings.CutPrefix(line, "!"); is {
				text += raw + "\n"
			} else {
				text += worker.SpoolLine(line)
			}
		}
		path := filepath.Join(t.TempDir(), "events")
		fill := func() {
			if err := os.WriteFile(path, []byte(strings.TrimSuffix(text, "\n")),
				0o600); err != nil {
				t.Fatal(err)
			}
		}
		fill()
		before, count, err := worker.SpoolRead(path)
		if err != nil || len(before) > count {
			t.Fatalf("%d events, counted %d, %v", len(before), count, err)
		}
		fill()
		if err := worker.AddToSpool(path, some(1)); err != nil {
			t.Fatal(err)
		}
		after, _, err := worker.SpoolRead(path)
		if diff := cmp.Diff(append(before, some(1)...), after); diff != "" || err != nil {
			t.Errorf("%v\n%s", err, diff)
		}
		if info, err := os.Stat(path); len(before) == count && (err != nil || info.Size() != 0) {
			t.Errorf("what is left: %v, %v", info, err)
		}
	})
}
