package infra

import (
	"context"
	"sync"

	"mlframework/infra/filesync"
)

// A meeting is where the fetches from several hosts wait for each other before contents are asked
// for, so that one decision is about all that is to come. Each of them comes once, or leaves.
type meeting struct {
	decide  func(filesync.FetchSize) error
	mu      sync.Mutex
	awaited int // fetches that have neither come nor left
	size    filesync.FetchSize
	decided chan struct{} // closed once err is the decision
	err     error
}

func newMeeting(fetches int, decide func(filesync.FetchSize) error) *meeting {
	return &meeting{decide: decide, awaited: fetches, decided: make(chan struct{})}
}

// come adds what one fetch is to bring, and returns the decision.
func (m *meeting) come(ctx context.Context, s filesync.FetchSize) error {
	m.arrived(s)
	select {
	case <-m.decided:
		return m.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// leave is for a fetch that ended before it came.
func (m *meeting) leave() { m.arrived(filesync.FetchSize{}) }

func (m *meeting) arrived(s filesync.FetchSize) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.size.Add(s)
	if m.awaited--; m.awaited > 0 {
		return
	}
	if m.size.Files > 0 {
		m.err = m.decide(m.size)
	}
	close(m.decided)
}
