package folder_test

import (
	"context"
	"os"
	"testing"

	"mlframework/sweep/worker/folder"
)

// TestACopyThatCannotBeRemovedIsNobodyElsesFault keeps one copy and cannot remove another.
func TestACopyThatCannotBeRemovedIsNobodyElsesFault(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	s.snapshot("r1", map[string]string{"train.py": "p"})
	s.store = folder.NewStore(folder.Options{Home: s.path("outputs/.prepared-w1"), Idle: 1,
		Revision: func(r string) (string, error) { return s.path("revisions/" + r), nil }})
	p := s.project("r1", folder.Rules{})
	first, second := s.enter(p, 0), s.enter(p, 1)
	must(t, first.Leave())
	record := s.path("outputs/.prepared-w1/1.task") // of the first, which makes room for the second
	must(t, os.Remove(record))
	must(t, os.MkdirAll(record+"/full", 0o755))
	must(t, second.Leave())
	c, err := p.Enter(context.Background(), s.path("outputs/train-1/2"))
	must(t, err)
	must(t, c.Leave())
}
