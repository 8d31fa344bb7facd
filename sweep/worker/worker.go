// Package worker runs attempts on one host: it claims what the master sends, gives each attempt a slot, a working
// directory and an environment, keeps its output, and reports how it ended.
//
// What it reports is one stream of events, in order: what an earlier start could not send, then that it joined, then its
// attempts, and at the end that it left. While the queue is away attempts run on and the events stand in a file.
//
// It knows the queue (its Port), not the master or the store. The commands import it; it imports the vocabulary,
// sweep/metric for metrics and sweep/worker/process for programs.
package worker

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"mlframework/sweep/queue"
	"mlframework/sweep/task"
	"mlframework/sweep/worker/folder"
	"mlframework/sweep/worker/process"
)

// Ceiling is how much of each stream of an attempt is kept, in bytes, where Options name nothing else.
const Ceiling = 256 << 20

// patience is how long Run waits at its end for a queue that is away.
const patience = 5 * time.Second

// Options say where a worker runs. Name, Outputs, Revision and Keeper are needed; the rest has defaults. The caller holds
// the locks of the folders (see Acquire), so that no other worker uses them.
type Options struct {
	Name     string // of the worker, in the queue
	Host     string // shown to people and programs; the machine's name
	Slots    int    // attempts at a time; the number of cores
	Outputs  string // folder of outputs, an absolute path; attempts run in OUTPUTS/SWEEP/INDEX
	Home     string // HOME of attempts whose user has none, an absolute path; none is the root folder
	Revision func(revision string) (folder string, err error)
	// Remake makes the files of a revision anew, after an attempt wrote to them; nil: that cannot be done here.
	Remake  func(ctx context.Context, revision string) error
	Environ []string // what attempts inherit, as NAME=value; nothing
	// OwnSecrets tells that the values of secrets stand in Environ, as where master and worker are one process. Else the master
	// is asked for them.
	OwnSecrets bool
	// SecretsFolder is where attempts find their secrets as files, an absolute path; "" is a folder in memory that all programs of
	// the user can read.
	SecretsFolder string
	// Alone tells that there is no other worker: this one goes on when its host cannot run attempts, as nobody else would run
	// them.
	Alone bool
	// NoRoom is called, if not nil, with a sentence when the disk of outputs is full: the worker takes nothing more until there
	// is room.
	NoRoom  func(reason string)
	Keeper  Runner
	Ceiling int64  // bytes kept of each stream of an attempt; Ceiling
	Spool   string // file of events that the queue has not taken, an absolute path; none: in memory
	Program string // version of the program, shown to people; none
	// Image is the image of the container that the worker runs in, with its digest, and Environment what the container was made
	// of, as whoever made it says. Both are handed on as they are; "" where there is no container.
	Image, Environment string
	// Unconfined is why Keeper does not confine programs that should be confined, for people; "": nobody asked for it, or it does.
	Unconfined string
	Log        *slog.Logger
}

// Runner runs programs and ends their whole process trees; *process.Keeper is the real one.
type Runner interface {
	Run(ctx context.Context, spec process.Spec) process.Exit
}

// Worker runs attempts. Make it with New and call Run once.
type Worker struct {
	o           Options
	incarnation string
	port        queue.Port
	outbox      outbox
	desk        desk
	jobs        jobs
	reads       reads
	secrets     secrets
	begun       begun
	shelf       shelf
	folders     *folder.Store
	ahead       ahead
	meter       meter
	slots       sync.WaitGroup
	beats       chan struct{} // asks for a heartbeat before its time
	hurry       chan struct{} // asks for the end of a worker that is to start again
	taken       atomic.Bool   // another process has its name
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
	w := &Worker{o: o, port: port, beats: make(chan struct{}, 1), hurry: make(chan struct{}, 1)}
	var err error
	if w.incarnation, err = born(o.Spool); err != nil {
		o.Log.Error("the start of the worker is not noted: should the clock be set back, its next start may be taken for an older one", "error", err)
	}
	w.outbox.init(port, o.Log)
	w.secrets.init(o.Name)
	w.begun.init(o)
	w.shelf.init(o)
	w.desk.init(o.Name, o.Slots, &w.outbox, &w.secrets)
	w.desk.alone = o.Alone
	w.folders = folder.NewStore(folder.Options{Home: filepath.Join(o.Outputs, ".prepared-"+o.Name), Revision: o.Revision,
		Remake: o.Remake, Idle: 2 * o.Slots, Log: o.Log})
	w.jobs.init(o, w.folders)
	w.ahead.init(w.desk.waits)
	w.reads.init(port, o)
	w.meter.init(o.Outputs)
	return w
}

// Run works until ctx ends: it sends what an earlier start could not send, tells that it joined, and takes attempts. At
// the end those that run are stopped, with their grace, what has not begun is given back, and Run returns when the last
// event is sent or the queue stayed away for five seconds; what was not sent then stays in the spool. It ends in the same
// way when the master asks for it.
func (w *Worker) Run(ctx context.Context) (why End) {
	ctx, end := context.WithCancel(ctx)
	defer end()
	if w.o.Spool != "" {
		w.outbox.attach(w.o.Spool)
	}
	w.folders.Recover()
	w.meter.measure()
	before, told := w.begun.before()
	w.outbox.put(before...)
	w.self(task.JoinedEvent, told)
	sending, stopSending := context.WithCancel(context.WithoutCancel(ctx))
	defer stopSending()
	talking, stopTalking := context.WithCancel(sending) // what runs has its grace, which may be longer than a lease
	defer stopTalking()
	var sender, others sync.WaitGroup
	sender.Go(func() { w.outbox.run(sending) })
	w.resize(ctx, 0)
	others.Go(func() { w.obey(talking, ctx) })
	for _, part := range []func(context.Context){w.consume, w.beat, w.reads.run, w.meter.run, w.folders.Run, w.watchRoom} {
		others.Go(func() { part(talking) })
	}
	why = w.work(ctx)
	end()
	w.desk.close()
	w.beatNow()
	w.slots.Wait()
	if err := w.shelf.close(); err != nil {
		w.o.Log.Error("files of secrets are left", "error", err)
	}
	if err := w.folders.Close(); err != nil {
		w.o.Log.Warn("copies of projects are left", "error", err)
	}
	w.begun.close()
	stopTalking()
	others.Wait()
	w.self(task.LeftEvent, true)
	w.outbox.flush(sending, patience)
	stopSending()
	sender.Wait()
	return why
}

// consume claims what arrives: first the events, so that the master knows, then the delivery's acknowledgement, so that
// no broker's clock runs against the attempts. An attempt that comes a second time is not taken.
func (w *Worker) consume(ctx context.Context) {
	for d := range w.port.Consume(ctx) {
		var items []item
		lacks := false
		for _, b := range d.Items {
			if b.Version > task.Newest {
				w.refuse(ctx, b)
				continue
			}
			if b.Follow {
				w.jobs.following.set(b.Sweep, true)
			}
			job := w.jobs.get(b)
			if job.need != nil {
				lacks = w.secrets.want(*job.need) || lacks
			}
			for _, a := range b.Attempts {
				items = append(items, item{job: job, attempt: a})
			}
		}
		if items = w.desk.claim(items); !w.outbox.sent(ctx) {
			return
		}
		if err := d.Ack(); err != nil {
			w.o.Log.Warn("delivery not acknowledged", "error", err)
			w.desk.lose(items)
			continue // it comes again
		}
		w.desk.put(items)
		if lacks {
			w.beatNow()
		}
	}
}
