package main_test

import (
	"context"
	"net"
	"os"
	"path"
	"strings"
	"testing"
	"time"

	"mlframework/infra/lab"
	"mlframework/infra/layout"
	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/space"
	"mlframework/sweep/task"
)

// patience is how long something may take that takes seconds, on a busy machine too.
const patience = 3 * time.Minute

// eventually polls until something is so.
func eventually(t testing.TB, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !is(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within %v: %s", patience, what)
		}
	}
}

// status calls check-status until it ends with a code and says something: a busy host does not
// always answer within its few seconds.
func (p *laptop) status(code int, says string, args ...string) (r result) {
	p.t.Helper()
	for end := time.Now().Add(patience); ; {
		if r = p.run(append([]string{"check-status"}, args...)...); r.code == code &&
			strings.Contains(r.out, says) {
			return r
		}
		if time.Now().After(end) {
			p.t.Fatalf("check-status %q: still exit code %d, without %q:\n%s%s", args, r.code, says,
				r.out, r.err)
		}
	}
}

// master is a client of the master on a host, through ssh, in the cluster whose folder is root.
func (p *laptop) master(h *lab.Host, root string) *api.Client {
	p.t.Helper()
	dir, err := os.MkdirTemp("", "socket-") // a socket's path is short
	if err != nil {
		p.t.Fatal(err)
	}
	socket := path.Join(dir, "s")
	ctx, stop := context.WithCancel(context.Background())
	tunnel := p.command(ctx, path.Join(p.home, "bin/ssh"), "-N", "-o", "ExitOnForwardFailure=yes",
		"-L", socket+":"+path.Join(root, "run", layout.Socket), "anna@"+h.Name)
	if err := tunnel.Start(); err != nil {
		p.t.Fatal(err)
	}
	client := api.DialBy("the master", func(ctx context.Context) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	})
	p.t.Cleanup(func() {
		client.Close()
		stop()
		_ = tunnel.Wait()
		_ = os.RemoveAll(dir)
	})
	eventually(p.t, "a tunnel to the master", func() bool {
		_, err := os.Stat(socket)
		return err == nil
	})
	return client
}

// submit begins a sweep of so many tasks that run a script of the shell, of the revision that a
// host has.
func submit(t *testing.T, client *api.Client, h *lab.Host, root, tasks, script string) (id string) {
	t.Helper()
	s, _, err := space.Read("parameters.yml", []byte("n: \"[0,"+tasks+")\"\n"))
	if err != nil {
		t.Fatal(err)
	}
	revision := strings.TrimSpace(h.Exec(t, "sh", "-c", "basename $(readlink "+root+"/current)"))
	made, err := client.Submit(t.Context(), api.Submission{Code: revision, Record: core.Record{
		Version: task.Version, Space: s, Project: "digits",
		Retry: task.Retry{Lost: 3},
		Recipe: task.Recipe{Definition: "sleep", Command: []string{"sh", "-c", script, "task"},
			Revision: revision, Grace: time.Second},
	}}, "", "")
	if err != nil {
		t.Fatal(err)
	}
	return made.ID
}

// counts are how many tasks of a sweep are in which state.
func counts(t *testing.T, client *api.Client, id string) map[string]int64 {
	t.Helper()
	s, err := client.Sweep(t.Context(), id, false)
	if err != nil {
		t.Fatal(err)
	}
	return s.Counts
}

// succeeded waits until a sweep has ended, and checks that every task did well at its first try.
func succeeded(t *testing.T, client *api.Client, id string) {
	t.Helper()
	eventually(t, "the sweep has ended", func() bool {
		s, err := client.Sweep(t.Context(), id, false)
		return err == nil && s.State == core.Finished
	})
	page, err := client.Tasks(t.Context(), id, api.Query{})
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range page.Tasks {
		if one.State != task.Succeeded.String() {
			t.Errorf("task %d is %s", one.Index, one.State)
		}
		if one.Attempts == 1 {
			continue
		}
		tried, err := client.Task(t.Context(), id, one.Index)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range tried.Attempts[:len(tried.Attempts)-1] {
			if a.Started != nil { // else its worker gave it back before it began
				t.Errorf("task %d was lost: %+v", one.Index, a)
			}
		}
		t.Logf("task %d: %+v", one.Index, tried.Attempts)
	}
}
