package worker_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"mlframework/sweep/metric"
	"mlframework/sweep/queue"
	"mlframework/sweep/queue/memory"
	"mlframework/sweep/task"
	"mlframework/sweep/worker"
	"mlframework/sweep/worker/process"
)

// slow is a port whose queue takes events only while it is open: until then they hang, as behind a
// half-open connection.
type slow struct {
	queue.WorkerEndpoint
	mu   sync.Mutex
	open chan struct{} // closed: it is open
}

func (p *slow) Emit(ctx context.Context, events ...task.Event) error {
	p.mu.Lock()
	open := p.open
	p.mu.Unlock()
	select {
	case <-open:
		return p.WorkerEndpoint.Emit(ctx, events...)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// A queue that takes events and never says so is away: what is on its way goes to the spool, and
// comes once.
func TestUnsentEventsAreSpooled(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "events")
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, nil, spool(path), fake(func(context.Context,
			process.Spec) process.Exit {
			return process.Exit{}
		}))
		s.stop()
		synctest.Wait()
		from := len(s.all())
		p := &slow{WorkerEndpoint: s.queue.Worker("w1"), open: make(chan struct{})}
		s.start(p)
		time.Sleep(3 * time.Second)
		synctest.Wait()
		if text, _ := os.ReadFile(path); strings.Count(string(text), `"kind":"joined"`) != 1 {
			t.Errorf("the spool has %q", text)
		}
		beats := s.queue.Heartbeats(t.Context())
		s.skip(beats)
		if h := <-beats; h.Unsent != 1 {
			t.Errorf("%d unsent", h.Unsent)
		}
		close(p.open)
		s.run("true")
		for h := range beats {
			if h.Unsent == 0 {
				break
			}
		}
		if got := strings.Join(kinds(s.all()[from:]),
			", "); got != "joined 0/0, claimed 0/1, started 0/1, ended 0/1" {
			t.Error(got)
		}
		if info, err := os.Stat(path); err != nil || info.Size() != 0 {
			t.Errorf("afterwards: %v, %v", info, err)
		}
		s.stop()
	})
}

// The queue goes and comes while events are put: each comes once and in order, through memory or
// spool.
func TestRepeatedOutagesKeepEventOrder(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "events")
	synctest.Test(t, func(t *testing.T) {
		q := memory.NewEncoding()
		o := worker.NewOutbox(q.Worker("w1"), path, slog.New(slog.DiscardHandler))
		ctx, cancel := context.WithCancel(t.Context())
		var sender sync.WaitGroup
		sender.Go(func() { o.Run(ctx) })
		events := some(3000)
		for i, e := range events {
			o.Put(e)
			if i%70 == 0 {
				q.Outage(i%140 == 0)
			}
			if i%7 == 0 {
				time.Sleep(time.Duration(i%40) * time.Millisecond)
			}
		}
		q.Outage(false)
		time.Sleep(time.Minute)
		d := <-q.Events(ctx)
		for i, e := range d.Items {
			if e.Index != int64(i) {
				t.Fatalf("event %d is number %d", i, e.Index)
			}
		}
		if len(d.Items) != len(events) || o.Unsent() != 0 {
			t.Errorf("%d came, %d are unsent", len(d.Items), o.Unsent())
		}
		cancel()
		sender.Wait()
	})
}

// A record that is whole and no event, as another version of the program may have left, holds
// nothing up.
func TestUnreadableSpoolRecordIsDropped(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "events")
	text := `"no event"`
	line := fmt.Sprintf("%08x %s\n", crc32.Checksum([]byte(text),
		crc32.MakeTable(crc32.Castagnoli)), text)
	for _, file := range []string{line, line + line} {
		if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
		s := newSite(t, nil, spool(path))
		s.run("true")
		if diff := cmp.Diff([]string{"joined 0/0", "claimed 0/1", "started 0/1", "ended 0/1"},
			kinds(s.all())); diff != "" {
			t.Error(diff)
		}
		s.stop()
	}
	if err := errors.Join(os.WriteFile(path, []byte(line), 0o600),
		worker.AddToSpool(path, some(2))); err != nil {
		t.Fatal(err)
	}
	if got, count, err := worker.SpoolRead(path); len(got) != 2 || count != 3 || err != nil {
		t.Errorf("%d events of %d, %v", len(got), count, err)
	}
}

// It changes a limit of this process, so it is not parallel.
func TestFullDiskKeepsEventsInMemory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events")
	var log bytes.Buffer
	q := memory.NewEncoding()
	o := worker.NewOutbox(q.Worker("w1"), path, slog.New(slog.NewTextHandler(&log, nil)))
	release := noFileLonger(t, 1000)
	q.Outage(true)
	ctx, cancel := context.WithCancel(t.Context())
	var sender sync.WaitGroup
	sender.Go(func() { o.Run(ctx) })
	events := some(6000)
	for _, e := range events {
		o.Put(e)
	}
	if n := o.InMemory(); n < 5990 {
		t.Errorf("%d events in memory", n)
	}
	release()
	q.Outage(false)
	next := int64(0)
	deliveries := q.Events(ctx)
	timeout := time.After(limit)
	for int(next) < len(events) {
		select {
		case d := <-deliveries:
			for _, e := range d.Items {
				if e.Index != next {
					t.Fatalf("%d came; want %d", e.Index, next)
				}
				next++
			}
			_ = d.Ack()
		case <-timeout:
			t.Fatalf("%d came", next)
		}
	}
	cancel()
	sender.Wait()
	if said := strings.Count(log.String(), "keeping events in memory until"); said != 1 {
		t.Errorf("it was said %d times:\n%s", said, log.String())
	}
}

// noFileLonger makes files fail that grow longer, as a full disk does, until release.
func noFileLonger(t *testing.T, bytes uint64) (release func()) {
	t.Helper()
	var before unix.Rlimit
	err := unix.Getrlimit(unix.RLIMIT_FSIZE, &before)
	limit := before
	limit.Cur = bytes
	if err == nil {
		err = unix.Setrlimit(unix.RLIMIT_FSIZE, &limit)
	}
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &before); err != nil {
			t.Error(err)
		}
	}
}

// An event that the master would not read takes no other with it, and of an end what can be read of
// it is sent.
func TestAnEventThatIsNotReadLosesNoOther(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 1<<16)
	synctest.Test(t, func(t *testing.T) {
		q := memory.NewEncoding()
		o := worker.NewOutbox(q.Worker("w1"), filepath.Join(t.TempDir(), "events"),
			slog.New(slog.DiscardHandler))
		ctx, cancel := context.WithCancel(t.Context())
		var sender sync.WaitGroup
		sender.Go(func() { o.Run(ctx) })
		events := some(6)
		events[2].Outcome = &task.Outcome{Class: task.Error, ExitCode: code(3),
			Reason: "exit code 3", Stderr: task.Output{Error: long}}
		events[4].Kind, events[4].Outcome = task.SamplesEvent, nil
		events[4].Samples = []metric.Sample{{Name: long, Time: time.Now()}}
		o.Put(events...)
		time.Sleep(time.Second)
		synctest.Wait()
		var came []int64
		for stream := q.Events(ctx); len(came) < 5; {
			select {
			case d := <-stream:
				for _, e := range d.Items {
					came = append(came, e.Index)
					if out := e.Outcome; e.Index == 2 && (out.Class != task.Error ||
						*out.ExitCode != 3 || !strings.HasPrefix(out.Reason, "exit code 3; ")) {
						t.Errorf("the end is %+v", out)
					}
				}
			case <-time.After(time.Minute):
				t.Fatalf("events %v came; %d are unsent", came, o.Unsent())
			}
		}
		if want := []int64{0, 1, 2, 3, 5}; !slices.Equal(came, want) || o.Unsent() != 0 {
			t.Errorf("events %v came, want %v; %d are unsent", came, want, o.Unsent())
		}
		cancel()
		sender.Wait()
	})
}
