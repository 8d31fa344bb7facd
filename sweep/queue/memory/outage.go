package memory

import (
	"context"
	"sync"
	"time"
)

// outage is a switch that can be waited for. The zero value is off.
type outage struct {
	mu      sync.Mutex
	active  bool
	since   time.Time     // of the last change; zero: it never changed
	changed chan struct{} // closed when active changes; nil when nobody waits for that
}

func (o *outage) set(on bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.active == on {
		return
	}
	o.active, o.since = on, time.Now()
	if o.changed != nil {
		close(o.changed)
		o.changed = nil
	}
}

func (o *outage) status() (active bool, since time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.active, o.since
}

func (o *outage) on() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.active
}

// waitEnd waits until there is no outage and returns a channel that is closed when the next begins;
// false when ctx ended first.
func (o *outage) waitEnd(ctx context.Context) (next <-chan struct{}, ok bool) {
	for {
		active, changed := o.state()
		if !active {
			return changed, ctx.Err() == nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, false
		}
	}
}

func (o *outage) state() (active bool, changed <-chan struct{}) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.changed == nil {
		o.changed = make(chan struct{})
	}
	return o.active, o.changed
}
