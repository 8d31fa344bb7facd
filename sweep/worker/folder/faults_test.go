package folder_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/worker/folder"
)

// TestUnreadableSnapshotIsNotReady brings a snapshot again of which a file is missing, and
// then all of it.
func TestUnreadableSnapshotIsNotReady(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	must(t, os.WriteFile(s.path("large"), []byte("weights"), 0o644))
	bring := func() {
		s.snapshot("r1", map[string]string{"train.py": "p",
			"weights": "->" + s.path("large")})
	}
	bring()
	p := s.project("r1", folder.Rules{})
	must(t, s.enter(p, 0).Leave())
	must(t, os.Rename(s.path("revisions/r1"), s.path("revisions/old")))
	must(t, os.Rename(s.path("large"), s.path("elsewhere")))
	bring()
	for range 2 {
		if _, err := p.Enter(t.Context(), s.path("outputs/train-1/1")); err == nil ||
			!strings.Contains(err.Error(),
				"weights of the project is a link to a file that is gone") {
			t.Error(err)
		}
	}
	must(t, os.Rename(s.path("elsewhere"), s.path("large")))
	must(t, s.enter(p, 1).Leave())
}

// TestFailedStartLeavesNothing starts an attempt from a snapshot with a missing file, in a folder
// with files of an earlier attempt.
func TestFailedStartLeavesNothing(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	s.snapshot("r1", map[string]string{"a.py": "a", "b.py": "b", "c.py": "c"})
	p := s.project("r1", folder.Rules{})
	c := s.enter(p, 0)
	must(t, os.WriteFile(c.Dir+"/result", []byte("its own"), 0o644))
	must(t, c.Leave())
	b := s.path("revisions/r1/b.py")
	must(t, errors.Join(os.Chmod(s.path("revisions/r1"), 0o755), os.Rename(b, s.path("b.py"))))
	if _, err := p.Enter(t.Context(), c.Dir); err == nil {
		t.Fatal("it began")
	}
	if diff := cmp.Diff(map[string]string{"result": "its own"}, tree(t, c.Dir)); diff != "" {
		t.Error(diff)
	}
	must(t, os.Rename(s.path("b.py"), b))
	must(t, s.enter(p, 0).Leave())
	must(t, s.store.Close())
}

// TestWrittenPathsAreReportedOnce asks before and when an attempt leaves.
func TestWrittenPathsAreReportedOnce(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	s.snapshot("r1", map[string]string{"data/x": "as it was"})
	c := s.enter(s.project("r1", folder.Rules{Link: []string{"data"}}), 0)
	x := s.path("revisions/r1/data/x")
	must(t, os.Chmod(x, 0o644))
	must(t, os.WriteFile(x, []byte("written"), 0o644))
	if err := c.CheckSnapshot(); err == nil {
		t.Error("it is not found")
	}
	must(t, c.Leave())
}

// TestSnapshotRebuildBlocksNobodyElse lets an attempt leave, and another project be
// prepared, meanwhile.
func TestSnapshotRebuildBlocksNobodyElse(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	s.snapshot("r1", map[string]string{"data/x": "as it was"})
	s.snapshot("r2", map[string]string{"data/x": "another"})
	making, made := make(chan bool), make(chan bool)
	s.store = folder.NewStore(folder.Options{Home: s.path("outputs/.prepared-w1"),
		Revision: func(r string) (string, error) { return s.path("revisions/" + r), nil },
		Rebuild:  func(context.Context, string) error { making <- true; <-made; return nil }})
	rules := folder.Rules{Link: []string{"data"}}
	p := s.project("r1", rules)
	first, beside := s.enter(p, 0), s.enter(p, 1)
	x := s.path("revisions/r1/data/x")
	must(t, os.Chmod(x, 0o644))
	must(t, os.WriteFile(x, []byte("written"), 0o644))
	if err := first.Leave(); err == nil {
		t.Error("what was written is not found")
	}
	begun := make(chan error)
	go func() {
		_, err := p.Enter(t.Context(), s.path("outputs/train-1/2"))
		begun <- err
	}()
	<-making
	others := make(chan error)
	go func() {
		err := beside.Leave()
		_, other := s.store.Project("r2", rules)
		if err == nil {
			other = errors.New("what was written is not found")
		}
		others <- other
	}()
	select {
	case err := <-others:
		must(t, err)
		made <- true
	case <-time.After(10 * time.Second):
		t.Error("they wait for it")
		made <- true
		<-others
	}
	must(t, <-begun)
}
