// Package worker runs attempts on one host: it claims what the master sends, gives each attempt a
// slot, a working directory and an environment, keeps its output, and reports how it ended.
//
// What it reports is one stream of events, in order: what an earlier start could not send, then
// that it joined, then its attempts, and at the end that it left. While the queue is away attempts
// run on and the events stand in a file.
//
// It knows the queue (its Port), not the master or the store. The commands import it; it imports
// the vocabulary, sweep/metric for metrics and sweep/worker/process for programs.
package worker

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"mlframework/nvdocker"
	"mlframework/sweep/queue"
	"mlframework/sweep/task"
	"mlframework/sweep/worker/folder"
	"mlframework/sweep/worker/process"
)

// DefaultOutputLimit is how many bytes of each output stream of an attempt are kept if Options do
// not say otherwise.
const DefaultOutputLimit = 256 << 20

// flushTimeout is how long Run, at its end, waits for an unreachable queue.
const flushTimeout = 5 * time.Second

// Options configure a worker. Name, Outputs, Revision and Keeper are required; the comments name
// the defaults of the rest. The caller holds the locks of the folders (see Acquire), so that no
// other worker uses them.
type Options struct {
	Name string // of the worker, in the queue
	Host string // shown to people and programs; the machine's name
	// attempts at a time; 0 is the number of cores: then attempts with GPUs run beside these
	Slots   int
	Outputs string // folder of outputs, an absolute path; attempts run in OUTPUTS/SWEEP/INDEX
	// HOME for attempts whose user has none, an absolute path; "/"
	Home     string
	Revision func(revision string) (folder string, err error)
	// Rebuild restores the files of a revision after an attempt wrote to them; nil: not supported
	// here.
	Rebuild   func(ctx context.Context, revision string) error
	Inherited []string // what attempts inherit, as NAME=value; nothing
	// OwnSecrets says that Inherited has the values of secrets, as when master and worker are one
	// process. Otherwise the worker requests them from the master.
	OwnSecrets bool
	// SecretsFolder is where attempts find their secrets as files, an absolute path; "" is an
	// in-memory folder that all programs of the user can read.
	SecretsFolder string
	// SoleWorker says that there is no other worker: this one continues even if its host cannot run
	// attempts, because no other could.
	SoleWorker bool
	// OnNoSpace, if not nil, is called with the reason when the disk of the outputs is full. The
	// worker then accepts nothing until there is space again.
	OnNoSpace func(reason string)
	Keeper    Runner
	// GPUs looks at the GPUs that attempts may get, as DetectGPUs does; the variable
	// CUDA_VISIBLE_DEVICES of Inherited restricts them. nil: attempts get none.
	GPUs func(ctx context.Context) (nvdocker.Report, error)
	// GPULocks is the folder of the locks of GPUs, as GPULockFolder returns it: workers with the
	// same folder give no GPU to attempts that another one's attempts use. "": no GPU is locked.
	GPULocks string
	// GPUHolder describes the worker to people elsewhere whose attempts wait for its GPUs
	GPUHolder string
	// HideGPUs keeps attempts that need no GPUs from seeing any, and the first heartbeat until it
	// can list the GPUs. Otherwise such attempts see what they inherit, and nothing waits for GPUs
	// but what needs some.
	HideGPUs bool
	// Labels of the host, by which tasks choose it.
	Labels map[string]string
	// GPUBusyAbove is how much of a GPU's memory others may use while attempts get it, in bytes;
	// nvdocker.Idle
	GPUBusyAbove int64
	// IgnoreGPULocks has attempts get GPUs that other workers have locked, too.
	IgnoreGPULocks bool
	// bytes kept of each stream of an attempt; DefaultOutputLimit
	OutputLimit int64
	// file for events that the queue has not accepted, an absolute path; "": they stay in memory
	Spool   string
	Program string // version of the program, shown to people; none
	// Image is the image of the worker's container, with its digest, and Container describes what
	// the container was made of. Both are passed on unchanged; "" outside a container.
	Image, Container string
	// Unconfined explains to people why programs that should be confined are not; "": they are, or
	// need not be.
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
	port        queue.WorkerEndpoint
	outbox      outbox
	scheduler   scheduler
	jobs        jobs
	reads       readServer
	removals    removals
	secrets     secretStore
	starts      startLog
	secretDir   secretDir
	projects    *folder.Store
	meter       loadMeter
	slotsChosen bool   // when it started
	boot        string // of the machine, as in heartbeats
	gpuFault    string // the latest one that was logged
	// what CUDA_VISIBLE_DEVICES means, once the GPUs that it restricts have been listed
	visibleGPUs []string
	attempts    sync.WaitGroup
	// requests for an immediate heartbeat
	beatRequests chan struct{}
	// requests for an immediate end, for a restart
	restartNow chan struct{}
	// another process uses the worker's name
	nameTaken atomic.Bool
}

// New returns a worker that is connected to port.
func New(port queue.WorkerEndpoint, o Options) *Worker {
	if o.Host == "" {
		o.Host, _ = os.Hostname()
	}
	chosen := o.Slots > 0
	if !chosen {
		o.Slots = runtime.NumCPU()
	}
	o.Labels = maps.Clone(o.Labels)
	if o.Labels == nil {
		o.Labels = map[string]string{}
	}
	o.Labels[task.HostLabel], o.Labels[task.ArchLabel] = o.Host, runtime.GOARCH
	if o.OutputLimit <= 0 {
		o.OutputLimit = DefaultOutputLimit
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id") // what is not there is not known
	w := &Worker{o: o, port: port, boot: strings.TrimSpace(string(boot)), beatRequests: make(chan struct{}, 1),
		restartNow: make(chan struct{}, 1)}
	var err error
	if w.incarnation, err = newIncarnation(o.Spool); err != nil {
		o.Log.Error("cannot record the start of the worker: "+
			"if the clock is set back, the next may seem older", "error", err)
	}
	w.outbox.init(port, o.Log)
	w.secrets.init(o.Name)
	w.starts.init(o)
	w.secretDir.init(o)
	w.scheduler.init(o.Name, o.Slots, &w.outbox, &w.secrets)
	w.scheduler.soleWorker, w.scheduler.slotsChosen, w.slotsChosen = o.SoleWorker, chosen, chosen
	w.scheduler.gpus.known = o.GPUs == nil // there are none
	w.scheduler.gpuLocks = gpuLocks{folder: o.GPULocks, holder: o.GPUHolder,
		ignored: o.IgnoreGPULocks, held: map[string]*Lock{}}
	w.scheduler.gpus.idle = cmp.Or(o.GPUBusyAbove, nvdocker.Idle)
	w.projects = folder.NewStore(folder.Options{
		Home:     filepath.Join(o.Outputs, ".prepared-"+o.Name),
		Revision: o.Revision, Rebuild: o.Rebuild, Log: o.Log})
	w.jobs.init(o, w.projects)
	w.reads.init(port, o)
	w.removals.init(port, o, &w.scheduler)
	w.meter.init(o.Outputs)
	return w
}

// Run runs the worker until ctx ends or the master ends it. It sends the events that an earlier
// process could not send, reports that the worker has joined, and runs attempts. At the end it
// stops running attempts, with their grace, and returns the others to the master. It returns once
// the last event is sent, or after five seconds without a reachable queue; unsent events stay in
// the spool.
func (w *Worker) Run(ctx context.Context) (why End) {
	ctx, end := context.WithCancel(ctx)
	defer end()
	if w.o.Spool != "" {
		w.outbox.attach(w.o.Spool)
	}
	w.projects.Recover()
	w.meter.sample()
	w.firstGPULook(ctx)
	before, told := w.starts.previous()
	w.outbox.put(before...)
	w.reportSelf(task.JoinedEvent, told)
	sending, stopSending := context.WithCancel(context.WithoutCancel(ctx))
	defer stopSending()
	// what runs has its grace, which may be longer than a lease
	talking, stopTalking := context.WithCancel(sending)
	defer stopTalking()
	var sender, others sync.WaitGroup
	sender.Go(func() { w.outbox.run(sending) })
	w.resize(ctx, 0)
	others.Go(func() { w.control(talking, ctx) })
	for _, part := range []func(context.Context){w.consume, w.beat, w.reads.run, w.removals.run,
		w.meter.run, w.watchSpace, w.watchRevisions, w.watchGPUs} {
		others.Go(func() { part(talking) })
	}
	why = w.waitForEnd(ctx)
	end()
	w.scheduler.close()
	w.beatNow()
	w.attempts.Wait()
	if err := w.secretDir.close(); err != nil {
		w.o.Log.Error("cannot remove the files of secrets", "error", err)
	}
	if err := w.projects.Close(); err != nil {
		w.o.Log.Warn("cannot remove copies of projects", "error", err)
	}
	w.starts.close()
	stopTalking()
	others.Wait()
	w.reportSelf(task.LeftEvent, true)
	w.outbox.flush(sending, flushTimeout)
	stopSending()
	sender.Wait()
	return why
}

// consume claims deliveries. It sends the claim events before it acknowledges the delivery, so that
// the master knows of the claim and no broker timeout runs against the attempts. An attempt that is
// already known is not taken again.
func (w *Worker) consume(ctx context.Context) {
	for d := range w.port.Consume(ctx) {
		var items []item
		lacks := false
		for _, b := range d.Items {
			if task.Foreign(b.Version) {
				w.reject(ctx, b)
				continue
			}
			if b.Follow {
				w.jobs.followed.set(b.Sweep, true)
			}
			job := w.jobs.get(b)
			if job.need != nil {
				lacks = w.secrets.request(*job.need) || lacks
			}
			for _, a := range b.Attempts {
				items = append(items, newItem(job, &b, a))
			}
		}
		if items = w.scheduler.claim(items); !w.outbox.waitSent(ctx) {
			return
		}
		if err := d.Ack(); err != nil {
			w.o.Log.Warn("cannot acknowledge a delivery", "error", err)
			w.scheduler.unclaim(items)
			continue // it comes again
		}
		w.scheduler.enqueue(items)
		w.returnUnmet(ctx)
		if lacks {
			w.beatNow()
		}
	}
}

// End is the reason why a worker ended.
type End int

// Why workers end.
const (
	Stopped   End = iota // its context ended
	Restart              // the master asked for another start
	NameTaken            // another process has its name, and began later
)

// waitForEnd waits until the worker has to end: because ctx has ended, or because the master asked
// for it and either nothing runs any more or it asked for an immediate end.
func (w *Worker) waitForEnd(ctx context.Context) End {
	select {
	case <-ctx.Done():
		return Stopped
	case <-w.scheduler.idle:
	case <-w.restartNow:
	}
	if w.nameTaken.Load() {
		return NameTaken
	}
	w.o.Log.Info("the worker exits to be restarted")
	return Restart
}
