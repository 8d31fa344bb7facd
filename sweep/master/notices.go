package master

import (
	"context"
	"sync"
	"time"

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

// sendNotice sends one, and has that kept.
func (m *Master) sendNotice(key noticeKey, n core.Notice, r *core.Record) {
	defer func() {
		m.sending.mu.Lock()
		defer m.sending.mu.Unlock()
		delete(m.sending.now, key)
		m.sending.done.Broadcast()
	}()
	ctx, sent := m.sending.ctx, core.NoticeSent{Sweep: key.sweep, Notice: n}
	about, err := notify.Read(ctx, &listing.Archive{Store: &m.o.Store.Reader}, key.sweep, n.Event)
	if err == nil {
		err = m.o.Notify.Send(ctx, *r.Notify, r.Project, about)
	}
	if ctx.Err() != nil {
		return // the next master sends it
	}
	if err != nil {
		sent.Error = err.Error()
		m.o.Log.Warn("cannot send a notification", "sweep", key.sweep, "event", n.Event,
			"to", r.Notify.Target(), "error", err)
	}
	err = m.ask(ctx, call{prepare: func(ctx context.Context) (core.Command, error) {
		_, err := m.add(ctx, key.sweep)
		return sent, err
	}})
	if err != nil && ctx.Err() == nil {
		m.o.Log.Warn("cannot keep that a notification was sent", "sweep", key.sweep, "error", err)
	}
}

// AwaitNotices waits until no notice is being sent: for a little more than two minutes at most.
func (m *Master) AwaitNotices() {
	told := time.AfterFunc(time.Second, func() { m.o.Log.Info("waiting for a notification") })
	defer told.Stop()
	m.sending.mu.Lock()
	defer m.sending.mu.Unlock()
	for len(m.sending.now) > 0 {
		m.sending.done.Wait()
	}
}
