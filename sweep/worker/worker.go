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

// patience is how long Run waits at its end for a queue that is away.
const patience = 5 * time.Second

// Options say where a worker runs. Name, Outputs, Revision and Keeper are needed; the rest has defaults.
type Options struct {
	Name     string // of the worker, in the queue
	Host     string // shown to people and programs; the machine's name
	Slots    int    // attempts at a time; the number of cores
	Outputs  string // folder of outputs, an absolute path; attempts run in OUTPUTS/SWEEP/INDEX
	Caches   string // folder for what programs may keep between attempts (Python's bytecode), an absolute path; none
	Revision func(revision string) (folder string, err error)
	Environ  []string // what attempts inherit, as NAME=value; nothing
	Keeper   Runner
	Ceiling  int64 // bytes kept of each stream of an attempt; Ceiling
	Log      *slog.Logger
}

// Runner runs programs and ends their whole process trees; *process.Keeper is the real one.
type Runner interface {
	Run(ctx context.Context, spec process.Spec) process.Exit
}

// Worker runs attempts. Make it with New and call Run once.
type Worker struct {
	o      Options
	port   queue.Port
	outbox outbox
	desk   desk
	jobs   jobs
	beats  chan struct{} // asks for a heartbeat before its time
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
	w := &Worker{o: o, port: port, beats: make(chan struct{}, 1)}
	w.outbox.init(port, o.Log)
	w.desk.init()
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
	<-ctx.Done()
	w.report(task.ReturnedEvent, w.desk.close())
	others.Wait()
	slots.Wait()
	w.outbox.flush(sending, patience)
	stopSending()
	sender.Wait()
}

// consume claims what arrives: first the events, so that the master knows, then the delivery's acknowledgement, so that
// no broker's clock runs against the attempts. An attempt that comes a second time is not taken.
func (w *Worker) consume(ctx context.Context) {
	for d := range w.port.Consume(ctx) {
		var items []item
		for _, b := range d.Items {
			job := w.jobs.get(b)
			for _, a := range b.Attempts {
				if i := (item{job, a}); !w.desk.knows(i.key()) {
					items = append(items, i)
				}
			}
		}
		if w.report(task.ClaimedEvent, items); !w.outbox.sent(ctx) {
			return
		}
		if err := d.Ack(); err != nil {
			w.o.Log.Warn("delivery not acknowledged", "error", err)
			continue // it comes again
		}
		w.report(task.ReturnedEvent, w.desk.put(items))
	}
}

// slot runs one attempt after the other.
func (w *Worker) slot(ctx context.Context, n int) {
	for {
		i, attempt, ok := w.desk.take(ctx)
		if !ok {
			return
		}
		w.attempt(attempt, i, n)
		w.desk.done(i)
	}
}
