package filesync_test

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mlframework/infra/agent"
	"mlframework/infra/agent/server"
	"mlframework/infra/filesync"
	"mlframework/projects"
)

// refused checks that the host has refused something, and how it says so.
func refused(t *testing.T, err error, says string) *agent.Error {
	t.Helper()
	e, ok := errors.AsType[*agent.Error](err)
	if !ok || !strings.Contains(e.Text, says) {
		t.Fatalf("%v: no refusal that says %q", err, says)
	}
	return e
}

func small(t *testing.T) *projects.Manifest {
	dir := t.TempDir()
	tree(t, dir, map[string]string{"a": "one"})
	return scan(t, dir)
}

// Only a folder with our marker is used, or one that is new or empty.
func TestForeignFoldersAreRefused(t *testing.T) {
	t.Parallel()
	m := small(t)
	full := writable(t)
	tree(t, full, map[string]string{"thesis.tex": "x"})
	_, err := connect(t, full).Push(t.Context(), m, filesync.PushOptions{})
	refused(t, err, `it has no .mlframework-root and holds "thesis.tex"`)
	if diff := cmp.Diff([]string{"thesis.tex"}, names(t, full)); diff != "" {
		t.Error(diff)
	}
	_, err = connect(t, full).Revisions(t.Context())
	refused(t, err, `it has no .mlframework-root and holds "thesis.tex"`)

	root := writable(t)
	push(t, root, m)
	c := client(start(t, root), root, filesync.Identity{Owner: "anna", Cluster: "other"})
	_, err = c.Push(t.Context(), m, filesync.PushOptions{})
	refused(t, err, `holds the files of the cluster "ml" of anna`)
	if _, err := c.Prune(t.Context(), nil, 0); err == nil {
		t.Error("another's revisions were pruned")
	}
	_, err = c.Revisions(t.Context())
	refused(t, err, `holds the files of the cluster "ml" of anna`)
	err = filesync.Copy(t.Context(), c, connect(t, writable(t)), m.Revision())
	refused(t, err, `holds the files of the cluster "ml" of anna`)

	home, err := os.UserHomeDir()
	must(t, err)
	_, err = connect(t, home).Push(t.Context(), m, filesync.PushOptions{})
	refused(t, err, "holds more than a cluster's files")

}

func TestNothingThereYet(t *testing.T) {
	t.Parallel()
	root := filepath.Join(writable(t), "new")
	c := connect(t, root)
	if removed, err := c.Prune(t.Context(), nil, 0); err != nil || len(removed) != 0 {
		t.Error(removed, err)
	}
	if _, err := os.Lstat(root); err == nil {
		t.Error("asking made the folder")
	}
	if names, err := c.Revisions(t.Context()); err != nil || len(names) != 0 {
		t.Errorf("%q, %v", names, err)
	}
}

func TestPrune(t *testing.T) {
	t.Parallel()
	root, dir := writable(t), t.TempDir()
	var all []*projects.Manifest
	for _, content := range []string{"1", "22", "333"} {
		tree(t, dir, map[string]string{"a": content, "b": "b"})
		all = append(all, scan(t, dir))
		push(t, root, all[len(all)-1])
	}
	c := connect(t, root)
	if current := current(t, root); current != all[2].Revision() {
		t.Error(current)
	}
	removed, err := c.Prune(t.Context(), nil, time.Hour)
	if err != nil || len(removed) != 0 {
		t.Errorf("pushed just now, and removed: %v, %v", removed, err)
	}
	removed, err = c.Prune(t.Context(), []string{all[0].Revision()}, 0)
	if err != nil || len(removed) != 1 || removed[0].Name != all[1].Revision() ||
		removed[0].Bytes != 3 || removed[0].Files != 2 ||
		time.Since(removed[0].Pushed) > time.Minute {
		t.Errorf("removed: %v, %v", removed, err)
	}
	if diff := cmp.Diff(names(t, root+"/releases"), names(t, root+"/manifests")); diff != "" ||
		len(names(t, root+"/releases")) != 2 {
		t.Error(diff)
	}
	must(t, verify(t, root, all[0].Revision()))
}

func TestLockNamesItsHolder(t *testing.T) {
	t.Parallel()
	root, m := writable(t), small(t)
	push(t, root, m)
	f, err := os.OpenFile(filepath.Join(root, "lock"), os.O_RDWR, 0)
	must(t, err)
	must(t, syscall.Flock(int(f.Fd()), syscall.LOCK_EX))
	must(t, f.Truncate(0))
	_, err = f.WriteAt(
		[]byte(`{"who":"ben@desk","does":"push","pid":7,"host":"gpu1","since":"2026-01-02T03:04:05Z"}`), 0)
	must(t, err)
	_, err = connect(t, root).Push(t.Context(), m, filesync.PushOptions{Wait: -1})
	const ben = "ben@desk (push since 2026-01-02 03:04:05, process 7 on gpu1)"
	if e := refused(t, err, "is in use by "+ben); e.Holder != ben {
		t.Error(e.Holder)
	}
	done := make(chan error)
	c := connect(t, root)
	go func() { _, err := c.Push(t.Context(), m, filesync.PushOptions{}); done <- err }()
	must(t, f.Close())
	must(t, <-done)
}

// A client that falls silent with the lock does not keep it for ever.
func TestSilentClientLosesTheLock(t *testing.T) {
	t.Parallel()
	root, dir := writable(t), t.TempDir()
	tree(t, dir, map[string]string{"a": strings.Repeat("a", 300_000)})
	here, there := net.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- server.Serve(t.Context(), there, server.Options{Idle: 50 * time.Millisecond})
	}()
	c := client(&stalled{Conn: here, after: 1000}, root, anna)
	_, err := c.Push(t.Context(), scan(t, dir), filesync.PushOptions{})
	refused(t, err, "the client was silent for 50ms in the middle of a push")
	push(t, root, scan(t, dir))
	must(t, here.Close())
	must(t, <-ended)
}

// stalled swallows what is written after so many bytes.
type stalled struct {
	net.Conn
	after int
}

func (s *stalled) Write(b []byte) (int, error) {
	if s.after -= len(b); s.after < 0 {
		return len(b), nil
	}
	return s.Conn.Write(b)
}
