// Package worker runs attempts on one host: it claims what the master sends, gives each attempt a slot, a working
// directory and an environment, keeps its output, and reports how it ended.
//
// It knows the queue (its Port), not the master or the store. The commands import it; it imports the vocabulary,
// sweep/result for metrics and sweep/worker/process for programs.
package worker

import (
	"context"
	"log/slog"
	"os"
	"runtime"
	"sync"
	"time"

	"mlframework/sweep/queue"
	"mlframework/sweep/task"
	"mlframework/sweep/worker/process"
)

// Ceiling is how much of each stream of an attempt is kept, in bytes, where Options name nothing else.
const Ceiling = 256 << 20

// beat is the time between two heartbeats.
const beat = 2 * time.Second

// Options say where a worker runs. Name, Outputs, Revision and Keeper are needed; the rest has defaults.
type Options struct {
	Name      string // of the worker, in the queue
	Host      string // shown to people and programs; the machine's name
	Slots     int    // attempts at a time; the number of cores
	Outputs   string // folder of outputs; attempts run in OUTPUTS/SWEEP/INDEX
	Caches    string // folder for what programs may keep between attempts (Python's bytecode); none
	Revision  func(revision string) (folder string, err error)
	Environ   []string // what attempts inherit, as NAME=value; nothing
	Keeper    Runner
	Ceiling   int64 // bytes kept of each stream of an attempt; Ceiling
	Log       *slog.Logger
	Heartbeat func() // called after each heartbeat that was sent; for tests
}

// Runner runs programs and ends their whole process trees; *process.Keeper is the real one.
type Runner interface {
	Run(ctx context.Context, spec process.Spec) process.Exit
}

// Worker runs attempts. Make it with New and call Run once.
type Worker struct {
	o       Options
	port    queue.Port
	outbox  outbox
	backlog backlog
	jobs    jobs

	mu      sync.Mutex
	running map[key]context.CancelCauseFunc
}

// key names one attempt.
type key struct {
	sweep  string
	index  int64
	number int
}

// New makes a worker at its end of a queue.
func New(port queue.Port, o Options) *Worker {
	if o.Host == "" {
		o.Host, _ = os.Hostname()
	}
	if o.Slots <= 0 {
		o.Slots = runtime.NumCPU()
	}
	if o.Ceiling <= 0 {
		o.Ceiling = Ceiling
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	w := &Worker{o: o, port: port, running: map[key]context.CancelCauseFunc{}}
	w.outbox.init(port, o.Log)
	w.backlog.init()
	w.jobs.init(o)
	return w
}

// Run works until ctx ends. Then attempts that run are stopped, with their grace, what has not begun is given back, and
// Run returns when the last event is sent or the queue stayed away for five seconds.
func (w *Worker) Run(ctx context.Context) {
	sending, stopSending := context.WithCancel(context.WithoutCancel(ctx))
	var sender, others, slots sync.WaitGroup
	sender.Go(func() { w.outbox.run(sending) })
	others.Go(func() { w.consume(ctx) })
	others.Go(func() { w.obey(ctx) })
	others.Go(func() { w.beat(ctx) })
	for n := range w.o.Slots {
		slots.Go(func() { w.slot(ctx, n) })
	}
	others.Wait()
	w.giveBack(func(item) bool { return true })
	w.backlog.close()
	slots.Wait()
	w.outbox.flush(sending, 5*time.Second)
	stopSending()
	sender.Wait()
}

// consume claims what arrives: first the events, so that the master knows, then the delivery's acknowledgement, so that
// no broker's clock runs against the attempts.
func (w *Worker) consume(ctx context.Context) {
	for d := range w.port.Consume(ctx) {
		var items []item
		var claims []task.Event
		for _, b := range d.Items {
			job := w.jobs.get(b)
			for _, a := range b.Attempts {
				i := item{job, a}
				items = append(items, i)
				claims = append(claims, w.event(task.ClaimedEvent, i))
			}
		}
		if w.outbox.put(claims...); !w.outbox.sent(ctx) {
			return
		}
		if err := d.Ack(); err != nil {
			w.o.Log.Warn("delivery not acknowledged", "error", err)
			continue // it comes again
		}
		w.backlog.put(items...)
	}
}

// slot runs one attempt after the other.
func (w *Worker) slot(ctx context.Context, n int) {
	for {
		i, ok := w.backlog.take()
		if !ok {
			return
		}
		w.attempt(ctx, i, n)
	}
}

// obey does what the master's control messages ask.
func (w *Worker) obey(ctx context.Context) {
	for c := range w.port.Controls(ctx) {
		switch c.Kind {
		case task.StopControl:
			w.stop(key{c.Sweep, c.Index, c.Attempt})
		case task.RecallControl:
			w.giveBack(func(i item) bool { return i.job.sweep == c.Sweep })
		case task.FollowControl:
			w.jobs.follow(c.Sweep, !c.Off)
		}
	}
}

// stop ends an attempt that runs, and gives back one that has not begun.
func (w *Worker) stop(k key) {
	w.mu.Lock()
	cancel := w.running[k]
	w.mu.Unlock()
	if cancel != nil {
		cancel(errStopped)
		return
	}
	w.giveBack(func(i item) bool { return i.key() == k })
}

func (w *Worker) giveBack(which func(item) bool) {
	for _, i := range w.backlog.remove(which) {
		w.outbox.put(w.event(task.ReturnedEvent, i))
	}
}

func (w *Worker) beat(ctx context.Context) {
	h := task.Heartbeat{Version: task.Version, Worker: w.o.Name, Host: w.o.Host, Slots: w.o.Slots,
		Incarnation: time.Now().UTC().Format(time.RFC3339Nano)}
	ticker := time.NewTicker(beat)
	defer ticker.Stop()
	for {
		if err := w.port.Beat(ctx, h); err != nil {
			w.o.Log.Warn("heartbeat not sent", "error", err)
		} else if w.o.Heartbeat != nil {
			w.o.Heartbeat()
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

func (w *Worker) event(kind task.Kind, i item) task.Event {
	return task.Event{Version: task.Version, Kind: kind, Worker: w.o.Name, Time: time.Now(),
		Sweep: i.job.sweep, Index: i.attempt.Index, Attempt: i.attempt.Number}
}
