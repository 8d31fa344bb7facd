package master

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"time"

	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/listing"
	"mlframework/sweep/notify"
)

// sending is the notices that are being sent. They are kept with what they are about, and sent
// after that; what a master that died did not send, the next one does.
type sending struct {
	ctx context.Context // of the sends; nil: before Run, when nothing is sent

	mu   sync.Mutex
	now  map[noticeKey]bool
	done sync.Cond // now has lost one
}

// noticeKey tells notices apart.
type noticeKey struct {
	sweep, event string
	time         time.Time
}

// startSending begins to send, with what is left of an earlier master. It returns the function that
// ends it.
func (m *Master) startSending(ctx context.Context) (end func()) {
	ctx, stop := context.WithCancel(ctx)
	m.sending.ctx = ctx
	left, err := m.o.Store.SweepsWithNotices(ctx)
	if err != nil {
		m.o.Log.Warn("cannot read which notifications are to be sent", "error", err)
	}
	for _, s := range left {
		m.sendNotices(s.Head.ID, &s.Record)
	}
	return func() {
		stop()
		m.AwaitNotices()
	}
}

// sendNotices starts to send those of a sweep that are still to be sent. It is called by the loop.
func (m *Master) sendNotices(sweep string, r *core.Record) {
	if m.sending.ctx == nil {
		return
	}
	for _, n := range r.PendingNotices() {
		key := noticeKey{sweep, n.Event, n.Time}
		m.sending.mu.Lock()
		known := m.sending.now[key]
		m.sending.now[key] = true
		m.sending.mu.Unlock()
		if !known {
			go m.sendNotice(key, n, r)
		}
	}
}

// keepTries is how often the master tries to keep that a notice was sent, a second apart.
const keepTries = 10

// sendNotice sends one, and has that kept.
func (m *Master) sendNotice(key noticeKey, n core.Notice, r *core.Record) {
	defer func() {
		m.sending.mu.Lock()
		defer m.sending.mu.Unlock()
		delete(m.sending.now, key)
		m.sending.done.Broadcast()
	}()
	ctx, sent := m.sending.ctx, core.NoticeSent{Sweep: key.sweep, Notice: n}
	event := n.Event
	if event == core.OnEndNotice {
		event = core.EndedNotice
	}
	about, err := notify.Read(ctx, &listing.Archive{Store: &m.o.Store.Reader}, key.sweep, event)
	switch {
	case err != nil:
	case n.Event == core.OnEndNotice:
		sent.Runs, err = m.submitOnEnd(ctx, key.sweep, n, r, about)
	default:
		err = m.o.Notify.Send(ctx, *r.Notify, r.Project, about)
	}
	if ctx.Err() != nil {
		return // the next master sends it
	}
	if err != nil {
		sent.Error = err.Error()
		m.o.Log.Warn("cannot send a notification", "sweep", key.sweep, "event", n.Event,
			"error", err)
	}
	for try := range keepTries {
		err = m.ask(ctx, call{prepare: func(ctx context.Context) (core.Command, error) {
			_, err := m.add(ctx, key.sweep)
			return sent, err
		}})
		if err == nil || ctx.Err() != nil {
			return
		}
		if try == 0 {
			m.o.Log.Warn("cannot keep that a notification was sent", "sweep", key.sweep, "error",
				err)
		}
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
			return
		}
	}
}

// submitOnEnd submits the sweep that runs at the end of another, once for each end.
func (m *Master) submitOnEnd(ctx context.Context, sweep string, end core.Notice, r *core.Record,
	about notify.Message) (id string, err error) {
	message, err := json.Marshal(about)
	if err != nil {
		return "", err
	}
	key := "on-end " + sweep + " " + end.Time.Format(time.RFC3339Nano)
	return m.Submit(ctx, Submission{IdempotencyKey: key, Submission: api.Submission{
		Record: r.OnEndSweep(sweep, end, string(message))}})
}

// AwaitNotices waits until no notice is being sent: for a little more than two minutes at most.
func (m *Master) AwaitNotices() {
	told := time.AfterFunc(time.Second, func() { m.o.Log.Info("waiting for a notification") })
	defer told.Stop()
	m.awaitNotices(func(noticeKey) bool { return true })
}

// AwaitOnEnds waits until what runs at the end of sweeps that have ended is submitted.
func (m *Master) AwaitOnEnds() {
	m.awaitNotices(func(n noticeKey) bool { return n.event == core.OnEndNotice })
}

// awaitNotices waits until none of some notices is being sent.
func (m *Master) awaitNotices(which func(noticeKey) bool) {
	m.sending.mu.Lock()
	defer m.sending.mu.Unlock()
	for slices.ContainsFunc(slices.Collect(maps.Keys(m.sending.now)), which) {
		m.sending.done.Wait()
	}
}
