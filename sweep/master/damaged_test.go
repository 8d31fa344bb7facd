package master_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mlframework/sweep/core"
	"mlframework/sweep/master"
	"mlframework/sweep/store"
	"mlframework/sweep/task"
)

// TestDamagedSweep: a sweep whose record cannot be read stays as it is, and the others run. Once it
// is repaired it goes on, with what its worker told meanwhile.
func TestDamagedSweep(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	broken := s.submit(1, func(n *master.Submission) { n.Record.Recipe.Definition = "broken" })
	h := s.newHand("w1", 2)
	g := h.has(1)
	h.report(task.ClaimedEvent, g...)
	h.report(task.StartedEvent, g...)
	s.becomes(broken, core.Open, "1 running")
	file := filepath.Join(s.folder, store.File)
	replace := func(old, replacement string) {
		t.Helper()
		s.must(s.end())
		text, err := os.ReadFile(file)
		s.must(err)
		changed := bytes.ReplaceAll(text, []byte(old), []byte(replacement))
		if bytes.Equal(changed, text) {
			t.Fatalf("%s does not have %s", file, old)
		}
		s.must(os.WriteFile(file, changed, 0o600))
	}
	replace(`"definition":"broken"`, `"definition"!"broken"`)
	s.start()
	h.beat(says("1", 2, busy(g[0]))())
	h.end(task.Success, g...)
	id := s.submit(1)
	all := h.has(2)[1:]
	h.end(task.Success, all...)
	s.becomes(id, core.Finished, "1 succeeded")
	if text := s.log.String(); !strings.Contains(text, broken+" is damaged in "+store.File) ||
		!strings.Contains(text, "restore the file") {
		t.Errorf("the log is\n%s", text)
	}
	h.mu.Lock()
	for _, c := range h.controls {
		if c.Kind == task.StopControl {
			t.Errorf("what runs is told to stop: %+v", c)
		}
	}
	h.mu.Unlock()
	if _, err := s.master.Cancel(t.Context(), broken, "test"); err == nil ||
		!strings.Contains(err.Error(), "is damaged") {
		t.Errorf("it is cancelled: %v", err)
	}
	replace(`"definition"!"broken"`, `"definition":"broken"`)
	s.start()
	s.becomes(broken, core.Finished, "1 succeeded")
}
