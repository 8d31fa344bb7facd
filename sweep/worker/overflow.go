package worker

import (
	"time"

	"mlframework/sweep/task"
)

// attach opens the spool; its events are sent first. Without a spool a worker still works, but
// loses at its end what the queue has not accepted.
func (o *outbox) attach(path string) {
	s, err := openSpool(path)
	if err != nil {
		o.log.Error("cannot open the spool: unsent events are lost when the worker ends", "error",
			err)
		return
	}
	if s.count > 0 {
		o.log.Info("sending events of an earlier process of the worker first", "events", s.count,
			"file", path)
	}
	o.emitTimer = time.AfterFunc(emitTimeout, o.startOverflow)
	o.emitTimer.Stop()
	o.mu.Lock()
	defer o.mu.Unlock()
	o.spool = s
	o.added += uint64(s.count)
	o.signal()
}

// startOverflow records that the queue accepts no events: all events in memory, and all that
// follow, go to the spool.
func (o *outbox) startOverflow() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.queueDown = true
	o.overflow()
}

// overflows reports whether an event that is added now would wait: the queue accepts none, or has
// not yet accepted all that are in the spool.
func (o *outbox) overflows() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.queueDown || o.spool != nil && o.spool.count > 0
}

// spoolRetry is how long a failed spool is left alone.
const spoolRetry = time.Second

// overflow moves events from memory to the spool. If that fails, for example because the disk is
// full, they stay in memory. The caller holds the lock.
func (o *outbox) overflow() {
	if o.spool == nil || len(o.events) == 0 || time.Since(o.spoolFailed) < spoolRetry {
		return
	}
	n, err := o.spool.add(o.events)
	if o.events = o.events[n:]; len(o.events) == 0 {
		o.events = nil
	}
	o.logSpool(err)
}

// logSpool logs once that the spool fails, and once that it works again. The caller holds the lock.
func (o *outbox) logSpool(err error) {
	switch was := !o.spoolFailed.IsZero(); {
	case err != nil:
		if o.spoolFailed = time.Now(); !was {
			o.log.Error("keeping events in memory until the spool works again", "error", err)
		}
	case was:
		o.spoolFailed = time.Time{}
		o.log.Info("the spool works again")
	}
}

// readSpool returns the first events of the spool. Unreadable events are given up, so that the rest
// can be sent. The caller holds the lock.
func (o *outbox) readSpool() []task.Event {
	events, err := o.spool.read()
	if len(events) > 0 {
		return events
	}
	o.log.Error("events in the spool are unreadable and lost", "events", o.spool.count, "error",
		err)
	o.markAccepted(o.spool.count)
	o.logSpool(o.spool.clear())
	return nil
}

// closeSpool closes the spool after moving all unsent events to it.
func (o *outbox) closeSpool() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.spool == nil {
		return
	}
	o.spoolFailed = time.Time{}
	o.overflow()
	if err := o.spool.close(); err != nil {
		o.log.Error("spool not closed", "error", err)
	}
	o.spool = nil
}
