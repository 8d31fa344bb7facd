package master_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"mlframework/sweep/core"
	"mlframework/sweep/master"
	"mlframework/sweep/queue"
	"mlframework/sweep/secret"
	"mlframework/sweep/task"
)

// troubled is a queue whose status makes the master panic as long as it is told to.
type troubled struct {
	queue.MasterEndpoint
	on *atomic.Bool
}

func (q troubled) Status() queue.Status {
	if q.on.Load() {
		panic("a fault")
	}
	return q.MasterEndpoint.Status()
}

// tripwire is a log that panics when the master logs a text.
type tripwire struct {
	slog.Handler
	on   *atomic.Bool
	text string
}

func (h tripwire) Handle(ctx context.Context, r slog.Record) error {
	if r.Message == h.text && h.on.Load() {
		panic("a fault")
	}
	return h.Handler.Handle(ctx, r)
}

// A fault where workers are looked after and tasks are placed ends nobody: what came meanwhile is
// kept, and all goes on when it is over.
func TestAFaultInPlacementEndsNobody(t *testing.T) {
	t.Parallel()
	var on atomic.Bool
	s := newSite(t, func(o *master.Options) { o.Queue = troubled{o.Queue, &on} })
	h := s.newRunner("w1", 1, time.Millisecond)
	s.stands("w1", core.WorkerReady)
	on.Store(true)
	s.poll("it panics", func() bool { return strings.Contains(s.log.String(), "in=step") },
		s.log.String)
	on.Store(false)
	// what was not on disk is known by the next heartbeat
	h.beat(task.Heartbeat{Slots: 1, Incarnation: "1"})
	id := s.submit(3)
	s.becomes(id, core.Finished, "3 succeeded")
}

// A fault in a heartbeat ends nobody either.
func TestAFaultInAHeartbeatEndsNobody(t *testing.T) {
	t.Parallel()
	var on atomic.Bool
	on.Store(true)
	s := newSite(t, keeping(t.TempDir()), func(o *master.Options) {
		o.Log = slog.New(tripwire{o.Log.Handler(), &on, "secrets of a sweep are sent to a worker"})
	})
	h := s.knowing()
	id := s.submit(1, needing(values))
	b := h.batchOf(id)
	h.asks(task.Need{Sweep: id, Edition: b.Edition})
	s.poll("it panics", func() bool { return strings.Contains(s.log.String(), "in=step") },
		s.log.String)
	on.Store(false)
	if v := h.opened(b); v["KEY"] != secretValue {
		t.Errorf("it got %v", map[string]string(v))
	}
}

// However many names say that they are workers, so many are known, and those that were are heard.
func TestWorkersAreBounded(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	h := s.newHand("w1", 1)
	s.stands("w1", core.WorkerReady)
	for n := range core.MaxWorkers + 10 {
		name := fmt.Sprint("spy", n)
		s.must(s.queue.Worker(name).SendHeartbeat(t.Context(),
			task.Heartbeat{Version: task.Version + 1, Worker: name, Incarnation: "1"}))
	}
	s.must(s.queue.Worker("late").Emit(t.Context(), task.Event{Version: task.Version,
		Kind: task.JoinedEvent, Worker: "late", Heartbeat: &task.Heartbeat{Worker: "late",
			Incarnation: "1"}}))
	h.beat(task.Heartbeat{Slots: 1, Incarnation: "1", Host: "last"})
	s.poll("all is heard", func() bool { return s.worker("w1").Host == "last" }, func() string {
		return "not"
	})
	all, err := s.master.Workers(t.Context())
	s.must(err)
	if len(all) != core.MaxWorkers {
		t.Errorf("%d workers are known; want %d", len(all), core.MaxWorkers)
	}
	if n := strings.Count(s.log.String(), "too many workers"); n != 1 {
		t.Errorf("that is said %d times", n)
	}
}

// said is what somebody may say who has the password of a worker.
type said struct {
	Events []task.Event
	Beat   *task.Heartbeat
	Piece  *task.Piece
	Line   *task.Line
}

// FuzzWhatWorkersSay sends messages that a queue lets through, of whatever content, to a master
// with a sweep that runs. It answers, without a fault, and knows no more workers than spoke.
func FuzzWhatWorkersSay(f *testing.F) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	code := 1
	busy := []task.Busy{{Sweep: "train-1", Index: 1, Attempt: 1}, {Sweep: "other-1", Index: -1}}
	for _, seed := range []said{
		{Events: []task.Event{{Version: task.Version, Kind: task.JoinedEvent, Worker: "w1",
			Heartbeat: &task.Heartbeat{Version: task.Version, Worker: "w1", Incarnation: "2", Slots: 3}}}},
		{Events: []task.Event{{Version: task.Version, Kind: task.ClaimedEvent, Worker: "w1", Sweep: "train-1",
			Attempt: 1, Time: now},
			{Version: task.Version, Kind: task.StartedEvent, Worker: "w1", Sweep: "train-1", Attempt: 1,
				Start: &task.Start{Host: "h"}},
			{Version: task.Version, Kind: task.EndedEvent, Worker: "w1", Sweep: "train-1", Attempt: 1,
				Leftovers: true, Outcome: &task.Outcome{Class: task.Error, ExitCode: &code,
					Duration: -1}}}},
		{Events: []task.Event{{Version: task.Version, Kind: task.ReturnedEvent, Worker: "w1", Sweep: "train-1",
			Index: 1 << 62, Attempt: 9}, {Version: task.Version, Kind: task.LeftEvent, Worker: "w1",
			Heartbeat: &task.Heartbeat{}}}},
		{Beat: &task.Heartbeat{Version: task.Version, Worker: "w2", Incarnation: "1", Slots: 8000,
			Running: busy, Leftovers: busy, Ending: 9000, Waiting: 1, Time: now}},
		{Beat: &task.Heartbeat{Version: task.Version, Worker: "w1", Incarnation: "1", Slots: 4,
			Needs: []task.Need{{Sweep: "train-1"}}, Key: []byte("short")}},
		{Beat: &task.Heartbeat{Version: 99, Worker: "w1", Incarnation: "3"}},
		{Piece: &task.Piece{Version: task.Version, Worker: "w1", ID: "x", Size: -1},
			Line: &task.Line{Sweep: "train-1", Index: 3, Missed: 5, Text: "x"}},
	} {
		data, err := json.Marshal(seed)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, uint16(3))
	}
	var clock atomic.Int64
	s := newSite(f, keeping(f.TempDir()), func(o *master.Options) {
		o.Now = func() time.Time { return now.Add(time.Duration(clock.Load())) }
	})
	for _, name := range []string{"w1", "w2"} {
		s.newHandThat(task.Heartbeat{Version: task.Version, Worker: name, Slots: 2,
			Incarnation: "1", Key: secret.NewKey().Public()}, nil)
	}
	s.submit(20, needing(values))
	f.Fuzz(func(t *testing.T, data []byte, seconds uint16) {
		s.t = t
		defer func() { s.t = f }()
		var all said
		if json.Unmarshal(data, &all) != nil {
			return
		}
		clock.Add(int64(seconds%90) * int64(time.Second))
		var sent []task.Event
		for _, e := range all.Events {
			if e.Check(known(e.Worker)) == nil {
				sent = append(sent, e)
			}
		}
		port := s.queue.Worker("w1")
		s.must(port.Emit(t.Context(), sent...))
		if all.Beat != nil && all.Beat.Check(known(all.Beat.Worker)) == nil {
			s.must(port.SendHeartbeat(t.Context(), *all.Beat))
		}
		if all.Piece != nil && all.Piece.Check(known(all.Piece.Worker)) == nil {
			s.must(port.SendPiece(t.Context(), *all.Piece))
		}
		if all.Line != nil && all.Line.Check() == nil {
			port.OfferLine(*all.Line)
		}
		s.poll("all is taken", func() bool {
			depths, err := s.queue.Depths(t.Context())
			s.must(err)
			left := 0
			for _, d := range depths {
				left += d.Messages
			}
			return left == 0
		}, s.log.String)
		workers, err := s.master.Workers(t.Context())
		if err != nil || len(workers) > 3 {
			t.Fatalf("%d workers, %v", len(workers), err)
		}
		if at := strings.Index(s.log.String(), "fault in the master"); at >= 0 {
			t.Fatal(s.log.String()[at:])
		}
	})
}

// known is a name of few: who makes the users of a broker decides how many there are.
func known(name string) string {
	switch name {
	case "w1", "w2", "w3":
		return name
	}
	return "nobody"
}

// A piece of output counts only from the worker that was asked for it.
func TestAPieceOfAnotherWorkerIsNotTheAnswer(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	h := s.newHand("w1", 1)
	id := s.submit(1)
	h.has(1)
	g := given{id, h.batchOf(id).Attempts[0]}
	h.report(task.ClaimedEvent, g)
	h.report(task.StartedEvent, g)
	s.becomes(id, core.Open, "1 running")
	came := make(chan string, 1)
	go func() {
		p, err := s.master.Output(t.Context(), task.ID{Sweep: id}, 0, task.Read{Length: 10})
		came <- fmt.Sprint(string(p.Data), err)
	}()
	var asked task.Control
	h.told("a read", func(c task.Control) bool { asked = c; return c.Kind == task.ReadControl })
	for _, worker := range []string{"w2", "", "w1"} {
		s.must(s.queue.Worker(worker).SendPiece(t.Context(), task.Piece{Version: task.Version,
			Worker: worker, ID: asked.Read.ID, Data: []byte("of " + worker)}))
	}
	if got := <-came; got != "of w1<nil>" && got != "of w1 <nil>" {
		t.Errorf("the answer is %q", got)
	}
}
