package remote

import (
	"context"
	"strings"
	"sync"
)

// hops are connections to jump hosts, which the hosts behind them share.
type hops struct {
	mu     sync.Mutex
	shared map[string]*hop // by the way there
}

// hop is a connection to a jump host. A nil one is none.
type hop struct {
	of    *hops
	way   string
	users int // under of.mu

	turn chan struct{} // taken while connecting
	l    *link
}

// get gives the connection to a jump host, and makes it if there is none that lives. Its user must
// release it.
func (s *hops) get(ctx context.Context, d *Dialer, name string, before []string) (*hop, error) {
	way := strings.Join(append(before[:len(before):len(before)], name), ",")
	s.mu.Lock()
	h := s.shared[way]
	if h == nil {
		h = &hop{of: s, way: way, turn: make(chan struct{}, 1)}
		s.shared[way] = h
	}
	h.users++
	s.mu.Unlock()
	if err := h.connect(ctx, d, name, before); err != nil {
		h.release()
		return nil, err
	}
	return h, nil
}

func (h *hop) connect(ctx context.Context, d *Dialer, name string, before []string) error {
	select {
	case h.turn <- struct{}{}:
		defer func() { <-h.turn }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if h.l != nil && h.l.Err() == nil {
		return nil
	}
	l, err := d.connect(ctx, Target{Name: name}, before)
	if err == nil {
		h.l = l
	}
	return err
}

// release is called once by each user; the last one closes the connection.
func (h *hop) release() {
	if h == nil {
		return
	}
	h.of.mu.Lock()
	h.users--
	last := h.users == 0
	if last {
		delete(h.of.shared, h.way)
	}
	h.of.mu.Unlock()
	if last && h.l != nil {
		h.l.Close()
	}
}

func (h *hop) name() string {
	if h == nil {
		return ""
	}
	return h.l.name
}
