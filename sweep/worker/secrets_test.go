package worker_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/secret"
	"mlframework/sweep/task"
	"mlframework/sweep/worker"
)

const secretValue = "recognisable-value"

// secretive returns a batch whose attempts need a secret.
func secretive(script, edition string, indexes ...int64) task.Batch {
	b := batch(script, indexes...)
	b.Recipe.Secrets, b.Edition = []string{"KEY"}, edition
	return b
}

// needs waits for a heartbeat that needs an edition.
func (s *site) needs(beats <-chan task.Heartbeat, edition string) task.Heartbeat {
	s.t.Helper()
	for late := time.After(limit); ; {
		select {
		case h := <-beats:
			if len(h.Needs) > 0 && h.Needs[0].Edition == edition {
				return h
			}
		case <-late:
			s.t.Fatal("no heartbeat says what is needed")
		}
	}
}

// answers gives a worker what it needs.
func (s *site) answers(h task.Heartbeat, value string) {
	s.t.Helper()
	for _, n := range h.Needs {
		sealed, err := secret.Seal(h.Key, n.About("w1"), secret.Values{"KEY": value})
		s.must(err)
		s.tell(task.Control{Kind: task.SecretsControl, Sweep: n.Sweep, Edition: n.Edition,
			Secrets: sealed})
	}
}

func TestSecretsReachTheAttempt(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil, inherit("KEY=of the worker", "SECRETS_DIR=/x"))
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	beats := s.queue.Heartbeats(ctx)
	s.send(secretive(`printf %s "$KEY" | sha256sum >hash
		stat -c '%a %s' $SECRETS_DIR/* $SECRETS_DIR; echo $SECRETS_DIR >dir
		cat $SECRETS_DIR/KEY; env | grep -c '^KEY='`, "e1", 0))
	h := s.needs(beats, "e1")
	if diff := cmp.Diff([]task.Need{{Sweep: "train-1", Edition: "e1"}}, h.Needs); diff != "" ||
		h.Waiting != 1 || len(h.Running) > 0 {
		t.Errorf("%s: %+v", diff, h)
	}
	other := batch("true", 9) // the slot is free for others meanwhile
	other.Sweep = "other-1"
	s.send(other)
	s.until("the other ended", func(all []task.Event) bool {
		return slices.ContainsFunc(all,
			func(e task.Event) bool { return e.Kind == task.EndedEvent && e.Sweep == "other-1" })
	})
	s.tell(task.Control{Kind: task.SecretsControl, Sweep: "train-1", Edition: "e1",
		Secrets: []byte("not sealed to it")})
	s.answers(s.needs(beats, "e1"), secretValue)
	if o := s.ended(0, 1); o.Class != task.Success {
		t.Fatal(o)
	}
	// The folder has one entry, so its size says nothing.
	out := strings.Split(s.file(0, "stdout.log"), "\n")
	if out[0] != "600 18" || !strings.HasPrefix(out[1], "700 ") || out[2] != "********1" {
		t.Errorf("it printed %q", out)
	}
	if dir := strings.TrimSpace(s.file(0, "dir")); !strings.HasPrefix(dir,
		"/dev/shm/mlframework-") {
		t.Errorf("its secrets are in %s", dir)
	} else if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("%s is there: %v", dir, err)
	}
	s.send(secretive(`test "$KEY" = `+secretValue, "e1", 1)) // known by now
	if o := s.ended(1, 1); o.Class != task.Success {
		t.Error(o)
	}
	s.send(secretive(`test "$KEY" = changed`, "e2", 2))
	s.answers(s.needs(beats, "e2"), "changed")
	if o := s.ended(2, 1); o.Class != task.Success {
		t.Error(o)
	}
	s.stop()
	if left := shelved(t, s); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
}

// A folder of secrets that somebody removed is made again.
func TestRemovedFolderOfSecrets(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	beats := s.queue.Heartbeats(ctx)
	s.send(secretive(`rm -r "$(dirname "$SECRETS_DIR")"`, "e1", 0))
	s.answers(s.needs(beats, "e1"), secretValue)
	s.ended(0, 1)
	for index := range int64(2) {
		s.send(secretive(`test "$(cat "$SECRETS_DIR/KEY")" = "$KEY"`, "e1", index+1))
		if o := s.ended(index+1, 1); o.Class != task.Success {
			t.Errorf("%+v", o)
		}
	}
	s.stop()
	if left := shelved(t, s); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
}

// shelved returns the folders of secrets of a site's worker.
func shelved(t *testing.T, s *site) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join("/dev/shm", worker.SecretDirPrefix("w1", s.outputs)+
		"*"))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestAttemptsWaitingForSecretsAreReturned(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	s.send(secretive("true", "e1", 0))
	s.needs(s.queue.Heartbeats(t.Context()), "e1")
	s.tell(task.Control{Kind: task.RecallControl, Sweep: "train-1"})
	s.seen(task.ReturnedEvent, 0, 1)
}

func TestMissingSecretsAreHostFault(t *testing.T) {
	bubble(t, nil, func(t *testing.T, s *site) {
		s.queue.Outage(true)
		time.Sleep(time.Hour) // nobody can be asked
		s.queue.Outage(false)
		s.send(secretive("true", "e1", 0))
		time.Sleep(9 * time.Minute)
		if all := s.soFar(); len(all) != 1 {
			t.Errorf("%v", kinds(all))
		}
		time.Sleep(2 * time.Minute)
		if o := s.ended(0, 1); o.Class != task.Loss ||
			!strings.HasPrefix(o.Reason, "infra: the master does not send") {
			t.Errorf("%+v", o)
		}
		b := secretive("true", "e1", 1)
		s.send(b)
		time.Sleep(3 * time.Second)
		if all := s.soFar(); all[len(all)-1].Kind != task.ClaimedEvent { // it is asked for again
			t.Errorf("%v", kinds(all))
		}
	})
}

func TestStaleSecretsAreRemovedAtStart(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	left, err := os.MkdirTemp("/dev/shm", worker.SecretDirPrefix("w1", s.outputs)+"*")
	if err != nil {
		t.Skip(err)
	}
	other, err := os.MkdirTemp("/dev/shm", worker.SecretDirPrefix("w2", s.outputs)+"*")
	s.must(err)
	defer os.RemoveAll(other)
	s.must(os.WriteFile(filepath.Join(left, "KEY"), []byte(secretValue), 0o600))
	s.stop()
	s.must(worker.EndLeftovers(t.Context(), "w1", s.outputs, "", slog.New(slog.DiscardHandler)))
	if all := shelved(t, s); len(all) > 0 {
		t.Errorf("%v is left", all)
	}
	if _, err := os.Stat(other); err != nil {
		t.Error(err)
	}
}
