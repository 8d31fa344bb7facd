package worker

import (
	"time"

	"mlframework/sweep/task"
)

// attach opens the spool; what it holds is sent before anything else. Without a spool a worker works all the same, and
// forgets at its end what the queue has not taken.
func (o *outbox) attach(path string) {
	s, err := openSpool(path)
	if err != nil {
		o.log.Error("events are kept in memory only: what the queue has not taken is lost when the worker ends", "error", err)
		return
	}
	if s.count > 0 {
		o.log.Info("events of an earlier start of the worker are sent first", "events", s.count, "file", path)
	}
	o.overdue = time.AfterFunc(late, o.keep)
	o.overdue.Stop()
	o.mu.Lock()
	defer o.mu.Unlock()
	o.spool = s
	o.added += uint64(s.count)
	o.nudge()
}

// keep notes that the queue does not take events: all that are here, and all that come, go to the spool.
func (o *outbox) keep() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.away = true
	o.spill()
}

// retryFull is how long a spool that took nothing is left alone.
const retryFull = time.Second

// spill moves events from memory to the spool. When that takes none, as when the disk is full, they stay in memory. The
// caller holds the lock.
func (o *outbox) spill() {
	if o.spool == nil || len(o.events) == 0 || time.Since(o.full) < retryFull {
		return
	}
	n, err := o.spool.add(o.events)
	if o.events = o.events[n:]; len(o.events) == 0 {
		o.events = nil
	}
	o.noteSpool(err)
}

// noteSpool says once that the spool fails, and once that it works again. The caller holds the lock.
func (o *outbox) noteSpool(err error) {
	switch was := !o.full.IsZero(); {
	case err != nil:
		if o.full = time.Now(); !was {
			o.log.Error("events are kept in memory until the spool takes them again", "error", err)
		}
	case was:
		o.full = time.Time{}
		o.log.Info("the spool takes events again")
	}
}

// read returns the first events of the spool. What cannot be read is given up: the queue is still told the rest. The
// caller holds the lock.
func (o *outbox) read() []task.Event {
	events, err := o.spool.read()
	if len(events) > 0 {
		return events
	}
	o.log.Error("events in the spool cannot be read and are lost", "events", o.spool.count, "error", err)
	o.count(o.spool.count)
	o.noteSpool(o.spool.clear())
	return nil
}

// shut ends the use of the spool, with everything in it that was not sent.
func (o *outbox) shut() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.spool == nil {
		return
	}
	o.full = time.Time{}
	o.spill()
	if err := o.spool.close(); err != nil {
		o.log.Error("spool not closed", "error", err)
	}
	o.spool = nil
}
