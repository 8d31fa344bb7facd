package monitor

import (
	"context"
	"reflect"
	"slices"
	"time"

	"mlframework/sweep/api"
	"mlframework/sweep/core"
)

func (h *hub) askSweeps(ctx context.Context, version int64) (reply[[]core.Summary], error) {
	return ask(ctx, h.answers, "sweeps", version,
		func(ctx context.Context) ([]core.Summary, error) {
			all, err := h.master.Sweeps(ctx, "", 0)
			if err == nil {
				h.throughput.observe(h.answers.now(), all)
			}
			return all, err
		})
}

func (h *hub) askWorkers(ctx context.Context, version int64) (reply[[]core.Worker], error) {
	return ask(ctx, h.answers, "workers", version,
		func(ctx context.Context) ([]core.Worker, error) {
			all, err := h.master.Workers(ctx)
			if err == nil {
				h.noteWorkers(all)
			}
			return all, err
		})
}

// poll asks for the sweeps and the workers until ctx ends.
func (h *hub) poll(ctx context.Context) {
	for {
		h.pollOnce(ctx)
		select {
		case <-time.After(notifyInterval):
		case <-ctx.Done():
			return
		}
	}
}

func (h *hub) pollOnce(ctx context.Context) {
	version := h.answers.clock.Add(1)
	s, err := h.askSweeps(ctx, version)
	if err == nil {
		h.compareSweeps(s.value)
		var w reply[[]core.Worker]
		if w, err = h.askWorkers(ctx, version); err == nil {
			h.compareWorkers(w.value)
			err = h.pollOverview(ctx, version)
		}
	}
	if ctx.Err() == nil {
		h.setReachability(err)
	}
}

// setReachability notes whether the master answers, and why not. When that changes everybody is
// told at once, and streams begin again.
func (h *hub) setReachability(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	same := (h.unreachable == nil) == (err == nil) &&
		(err == nil || unreachableText(h.unreachable) == unreachableText(err))
	if h.unreachable = err; same {
		return
	}
	for _, t := range h.topics {
		h.notify(t)
		t.wake()
	}
}

// wake lets a stream that has ended begin again.
func (t *topic) wake() {
	select {
	case t.resumed <- struct{}{}:
	default:
	}
}

// compareSweeps tells of what differs from the look before.
func (h *hub) compareSweeps(all []core.Summary) {
	h.mu.Lock()
	before := h.sweeps
	h.sweeps = make(map[string]core.Summary, len(all))
	var changed []string
	for _, s := range all {
		if h.sweeps[s.ID] = s; before != nil && !reflect.DeepEqual(before[s.ID], s) {
			changed = append(changed, sweepTopicPrefix+s.ID)
		}
	}
	// A page of the newest sweep shows another when there is one.
	if n := len(all); n > 0 && slices.Contains(changed, sweepTopicPrefix+all[n-1].ID) {
		changed = append(changed, sweepTopicPrefix+api.Newest)
	}
	for _, name := range changed {
		if t := h.topics[name]; t != nil {
			t.wake()
		}
	}
	h.mu.Unlock()
	for _, name := range changed {
		h.publish(name)
	}
	// Without an earlier look nobody knows what changed since a page was made.
	if before == nil || len(changed) > 0 {
		h.publish(sweepsTopic)
		h.publish(overviewTopic)
	}
}

func (h *hub) compareWorkers(all []core.Worker) {
	h.mu.Lock()
	before := h.workers
	h.workers = all
	h.mu.Unlock()
	if !reflect.DeepEqual(before, all) {
		h.publish(workersTopic)
	}
}
