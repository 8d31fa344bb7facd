package worker_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/queue/memory"
	"mlframework/sweep/task"
	"mlframework/sweep/worker"
	"mlframework/sweep/worker/process"
)

// some returns events, numbered by their index.
func some(n int) (events []task.Event) {
	for i := range n {
		code := i
		events = append(events, task.Event{Version: task.Version, Kind: task.EndedEvent,
			Worker: "w1", Sweep: "train-1", Index: int64(i), Attempt: 1,
			Time: time.Unix(int64(i), 0).UTC(), Outcome: &task.Outcome{Class: task.Error,
				ExitCode: &code, Reason: "line\nend ü"}})
	}
	return events
}

func spool(path string) func(*worker.Options) { return func(o *worker.Options) { o.Spool = path } }

func TestSpoolRoundTrip(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 511, 512, 513, 2000} {
		path := filepath.Join(t.TempDir(), "new", "events")
		for _, part := range slices.Collect(slices.Chunk(some(n), 300)) {
			if err := worker.AddToSpool(path, part); err != nil {
				t.Fatal(err)
			}
		}
		got, count, err := worker.SpoolRead(path)
		if diff := cmp.Diff(some(n), got); diff != "" || count != n || err != nil {
			t.Errorf("%d events, counted %d, %v:\n%.500s", n, count, err, diff)
		}
		if info, err := os.Stat(path); err != nil || info.Size() != 0 ||
			info.Mode().Perm() != 0o600 {
			t.Errorf("afterwards: %v, %v", info, err)
		}
	}
}

func TestTruncatedSpoolOpensWithCompleteRecords(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "events")
	if err := worker.AddToSpool(path, some(3)); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for n := range whole {
		if err := os.WriteFile(path, whole[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		kept := bytes.Count(whole[:n], []byte("\n"))
		more := some(4)[3:] // what is written behind a cut is read, too
		if err := worker.AddToSpool(path, more); err != nil {
			t.Fatal(err)
		}
		got, count, err := worker.SpoolRead(path)
		if diff := cmp.Diff(append(some(kept), more...), got); diff != "" || count != kept+1 ||
			err != nil {
			t.Fatalf("cut at %d: counted %d, %v:\n%s", n, count, err, diff)
		}
	}
}

func TestCorruptByteInSpoolLosesOneEvent(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "events")
	if err := worker.AddToSpool(path, some(3)); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(whole, []byte("\n"))
	want := append(some(1), some(3)[2:]...)
	for n := range lines[1] {
		broken := slices.Clone(whole)
		broken[len(lines[0])+n] ^= 1
		if err := os.WriteFile(path, broken, 0o600); err != nil {
			t.Fatal(err)
		}
		got, _, err := worker.SpoolRead(path)
		if n == len(lines[1])-1 { // its end is gone: the next is not found either
			want = some(1)
		}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("byte %d: %v\n%s", n, err, diff)
		}
	}
}

func TestSpoolIsUnusedWhileQueueIsReachable(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "events")
	synctest.Test(t, func(t *testing.T) { // where the queue takes no time
		s := newSite(t, nil, spool(path), fake(func(context.Context,
			process.Spec) process.Exit {
			return process.Exit{}
		}))
		s.run("true")
		before, err := os.Stat(path)
		s.must(err)
		for i := range int64(100) {
			s.send(batch("", 2*i+1, 2*i+2))
		}
		s.ended(200, 1)
		after, err := os.Stat(path)
		s.must(err)
		if after.Size() != 0 || !after.ModTime().Equal(before.ModTime()) {
			t.Errorf("the file was written: %d bytes, %v after its start", after.Size(),
				after.ModTime().Sub(before.ModTime()))
		}
		s.stop()
	})
}

// doomed is set for a process that is a worker to be killed: it is the folder of its files.
const doomed = "TEST_OF_A_DOOMED_WORKER"

// beDoomed is a worker whose queue goes away while three attempts run. When they ended and that is
// in the spool, it says so and waits for its end.
func beDoomed(folder string) {
	q, path := memory.NewEncoding(), filepath.Join(folder, "events")
	started := make(chan struct{}, 3)
	away := make(chan struct{})
	w := worker.New(q.Worker("w1"), worker.Options{Name: "w1", Slots: 3,
		Outputs: filepath.Join(folder, "outputs"), Spool: path,
		Revision: func(string) (string, error) { return folder, nil },
		Keeper: runner(func(context.Context, process.Spec) process.Exit {
			started <- struct{}{}
			<-away
			return process.Exit{}
		})})
	if err := q.Publish(context.Background(), "w1", batch("", 0, 1, 2)); err != nil {
		panic(err)
	}
	go w.Run(context.Background())
	for range 3 {
		<-started
	}
	q.Outage(true)
	close(away)
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if text, _ := os.ReadFile(path); strings.Count(string(text), `"kind":"ended"`) == 3 {
			fmt.Println("ready")
			break
		}
	}
	time.Sleep(limit)
	os.Exit(1)
}

func TestNextWorkerSendsSpoolFirst(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), doomed+"="+folder)
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	text := make([]byte, len("ready"))
	_, err = io.ReadFull(out, text)
	_ = c.Process.Kill()
	_ = c.Wait()
	if err != nil || string(text) != "ready" {
		t.Fatalf("%q, %v", text, err)
	}
	path := filepath.Join(folder, "events")
	s := newSite(t, nil, spool(path))
	s.send(batch("true", 7))
	s.ended(7, 1)
	all := s.all()
	at := slices.IndexFunc(all, func(e task.Event) bool { return e.Kind == task.JoinedEvent })
	last := map[int64]task.EventKind{}
	for _, e := range all[:at] {
		if last[e.Index] != task.EndedEvent { // behind that its start may be told again
			last[e.Index] = e.Kind
		}
	}
	if diff := cmp.Diff(map[int64]task.EventKind{0: task.EndedEvent, 1: task.EndedEvent,
		2: task.EndedEvent}, last); diff != "" {
		t.Errorf("%v\n%s", kinds(all), diff)
	}
	if diff := cmp.Diff([]string{"joined 0/0", "claimed 7/1", "started 7/1", "ended 7/1"},
		kinds(all[at:])); diff != "" {
		t.Error(diff)
	}
	poll(t, "the spool is empty afterwards", func() bool {
		info, err := os.Stat(path)
		return err == nil && info.Size() == 0
	})
}

// Three starts of a worker while the queue is away: what each said comes in order when it is back.
func TestStartsDuringOutageAreReportedInOrder(t *testing.T) {
	program := func(_ context.Context, _ process.Spec) process.Exit {
		time.Sleep(3 * time.Second)
		return process.Exit{}
	}
	folder := t.TempDir()
	bubble(t, program, func(t *testing.T, s *site) {
		s.stop()
		s.options.Spool = filepath.Join(folder, "events")
		synctest.Wait()
		from := len(s.all())
		s.queue.Outage(true)
		for range 3 {
			s.start(s.queue.Worker("w1"))
			time.Sleep(3 * time.Second)
			s.stop()
		}
		s.queue.Outage(false)
		s.start(s.queue.Worker("w1"))
		s.run("true")
		var joined []string
		for _, e := range s.all()[from:] {
			if e.Kind == task.JoinedEvent {
				joined = append(joined, e.Heartbeat.Incarnation)
			}
		}
		want := []string{"joined", "left", "joined", "left", "joined", "left", "joined", "claimed",
			"started", "ended"}
		var got []string
		for _, e := range s.all()[from:] {
			got = append(got, string(e.Kind))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		if !slices.IsSorted(joined) || len(slices.Compact(joined)) != 4 {
			t.Errorf("incarnations: %v", joined)
		}
	})
}

func TestMemoryIsBoundedDuringOutage(t *testing.T) {
	t.Parallel()
	const n = 50_000
	q := memory.NewEncoding()
	o := worker.NewOutbox(q.Worker("w1"), filepath.Join(t.TempDir(), "events"),
		slog.New(slog.DiscardHandler))
	q.Outage(true)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); o.Run(ctx) }()
	for _, e := range some(n) {
		if o.Put(e); o.InMemory() > worker.MaxInMemory {
			t.Fatalf("%d events in memory", o.InMemory())
		}
	}
	if got := o.Unsent(); got != n {
		t.Errorf("%d unsent", got)
	}
	q.Outage(false)
	events, next := q.Events(ctx), int64(0)
	for next < n {
		select {
		case d := <-events:
			for _, e := range d.Items {
				if e.Index != next {
					t.Fatalf("%d came; want %d", e.Index, next)
				}
				next++
			}
			_ = d.Ack()
		case <-time.After(limit):
			t.Fatalf("%d came", next)
		}
	}
	poll(t, "nothing unsent", func() bool { return o.Unsent() == 0 })
	cancel()
	<-ended
}
