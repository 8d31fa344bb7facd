package worker

import (
	"context"
	"slices"
	"time"

	"mlframework/nvdocker"
	"mlframework/sweep/task"
)

const (
	// gpuInterval is the time between two looks at GPUs.
	gpuInterval = 5 * time.Second
	// gpuSlowInterval is that time on machines without GPUs and, where GPUs are not hidden, while
	// all are free and none has been needed yet: a look may wake a card that the system has turned
	// off. It is also the longest time after looks that failed: each may leave a process that
	// nothing can end.
	gpuSlowInterval = time.Minute
	// gpuFirstLook is how long the first heartbeat waits for the first look.
	gpuFirstLook = 3 * nvdocker.AnswerTime
	// gpuLastLook is how long the end of an attempt that failed waits for a look at its GPUs.
	gpuLastLook = 5 * time.Second
)

// DetectGPUs looks at the GPUs of this machine, for Options. Where there is no nvidia-smi it starts
// no process.
func DetectGPUs(ctx context.Context) (nvdocker.Report, error) {
	if !nvdocker.Installed() {
		return nvdocker.Report{}, nil
	}
	return nvdocker.Detect(ctx, nvdocker.AnswerTime)
}

// firstGPULook has the first heartbeat list the GPUs: without them the master would take the host
// for one that has none.
func (w *Worker) firstGPULook(ctx context.Context) {
	if w.o.GPUs == nil || !w.o.HideGPUs {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, gpuFirstLook)
	defer cancel()
	w.lookAtGPUs(ctx)
}

// watchGPUs looks at the GPUs until ctx ends: at once if no look has ended yet, then regularly, and
// at once when an attempt has released some; after looks that failed only regularly. A change is
// reported with a heartbeat.
func (w *Worker) watchGPUs(ctx context.Context) {
	if w.o.GPUs == nil {
		return
	}
	for ctx.Err() == nil {
		s := w.scheduler.gpuState()
		requests := w.scheduler.gpuLooks
		if s.failed > 0 {
			requests = nil
		}
		if next := w.gpuInterval(s); next > 0 {
			select {
			case <-time.After(next):
			case <-requests:
			case <-ctx.Done():
				return
			}
		}
		w.lookAtGPUs(ctx)
		w.returnUnmet(ctx)
	}
}

// gpuInterval returns the time until the next look.
func (w *Worker) gpuInterval(s gpuState) time.Duration {
	switch {
	case !s.known:
		return 0
	case s.failed > 0:
		return min(gpuInterval<<min(s.failed, 10), gpuSlowInterval)
	case !s.some || !s.needed && !s.out && !w.o.HideGPUs:
		return gpuSlowInterval
	}
	return gpuInterval
}

// lookAtGPUs looks at the GPUs once.
func (w *Worker) lookAtGPUs(ctx context.Context) {
	type answer struct {
		report nvdocker.Report
		err    error
	}
	look := w.scheduler.beginGPULook()
	answered := make(chan answer, 1)
	// not waited for at the end: the driver may take longer than what is left of a run
	go func() {
		r, err := w.o.GPUs(ctx)
		answered <- answer{r, err}
	}()
	var a answer
	select {
	case a = <-answered:
	case <-ctx.Done():
		return
	}
	if a.err != nil {
		a.report = nvdocker.Report{Fault: &nvdocker.Problem{
			Cause: "the GPUs cannot be listed: " + a.err.Error()}}
	}
	a.report = w.visible(a.report)
	holders := w.scheduler.gpuLocks.holders(a.report)
	changes, tell := w.scheduler.updateGPUs(a.report, holders, look, time.Now())
	w.logGPUs(a.report, changes)
	if tell {
		w.beatNow()
	}
}

// visible returns a report with the GPUs that the worker itself sees. Which these are is found out
// once: a GPU that is lost has no number, and may change those of others.
func (w *Worker) visible(r nvdocker.Report) nvdocker.Report {
	value, set := lookupVariable(w.o.Inherited, visibleGPUs)
	switch {
	case !set:
		return r
	case w.visibleGPUs != nil:
		return r.Only(w.visibleGPUs)
	case r.Fault == nil && len(r.GPUs) > 0 &&
		!slices.ContainsFunc(r.GPUs, func(g nvdocker.GPU) bool { return g.Lost != "" }):
		w.visibleGPUs = append([]string{}, r.Pin(value)...)
	}
	return r.Visible(value)
}

// logGPUs logs what has changed, if anybody cares: programs that need no GPUs also run beside a
// desktop, whose use of them changes all the time.
func (w *Worker) logGPUs(r nvdocker.Report, changes []gpuChange) {
	s := w.scheduler.gpuState()
	if !s.needed && !w.o.HideGPUs {
		return
	}
	if r.Fault == nil {
		w.gpuFault = "" // it is told when it comes again
	}
	if fault := r.Fault; fault != nil && !s.some && w.gpuFault != fault.Cause {
		w.gpuFault = fault.Cause
		w.o.Log.Warn("the host's GPUs cannot be used", "cause", fault.Cause, "remedy",
			fault.Remedy)
	}
	lost, available := describeGPUChanges(changes)
	if lost != "" {
		w.o.Log.Warn(lost)
	}
	if available != "" {
		w.o.Log.Info(available)
	}
}

// blameGPUs makes the failure of an attempt that of its GPUs if these do not work.
func (w *Worker) blameGPUs(ctx context.Context, i item, o *task.Outcome) {
	if len(i.gpus.Devices) == 0 || o.Class != task.Error && o.Class != task.TimedOut {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, gpuLastLook)
	defer cancel()
	if why := w.scheduler.gpuFailure(ctx, i.gpus); why != "" {
		o.Class, o.Reason = task.Loss, joinReasons("infra: its GPU failed: "+why, o.Reason)
	}
}

// returnUnmet returns waiting attempts whose need of GPUs cannot be met here. The master gets the
// state of the GPUs before, so that it does not send them again.
func (w *Worker) returnUnmet(ctx context.Context) {
	if !w.scheduler.hasUnmet(time.Now()) {
		return
	}
	if w.port.SendHeartbeat(ctx, w.heartbeat()) != nil {
		w.beatNow() // it is tried again
	}
	w.scheduler.returnUnmet(time.Now())
}
