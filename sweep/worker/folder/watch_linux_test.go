package folder_test

import (
	"fmt"
	"os"
	"testing"

	"mlframework/sweep/worker/folder"
)

// A store has no more watches than it may have: what would need more of them is checked instead.
func TestWatchesAreLimited(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	files := map[string]string{}
	for i := range 60 {
		files[fmt.Sprintf("src/f%02d.py", i)] = "x"
	}
	s.snapshot("r1", files)
	p := s.project("r1", folder.Rules{})
	const items, limit = 61, 150
	s.store.LimitWatches(limit)
	for round, want := range []int{0, 2 * items, 2 * items, 2 * items} {
		var all []*folder.Workspace
		for slot := range 4 {
			w := s.enter(p, round*4+slot)
			for i := range 60 {
				text, err := os.ReadFile(fmt.Sprintf("%s/src/f%02d.py", w.Dir, i))
				if string(text) != "x" || err != nil {
					t.Fatalf("round %d: a task finds %q %v", round, text, err)
				}
			}
			all = append(all, w)
		}
		if n := s.store.Watches(); n != want {
			t.Errorf("round %d: %d watches, want %d", round, n, want)
		}
		must(t, os.WriteFile(fmt.Sprintf("%s/src/f%02d.py", all[round].Dir, 7), []byte("changed"),
			0o644))
		for _, w := range all {
			must(t, w.Leave())
		}
	}
}
