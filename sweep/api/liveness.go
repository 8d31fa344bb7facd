package api

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"sync"
	"time"
)

// What a client does while a master says nothing, counted in looks, one a second: a client that was
// itself stopped for an hour has missed one look, not the master's answer.
const (
	lookEvery  = time.Second
	probeAfter = 3 // looks without a sign of life, after which it is asked whether it lives
	tellAfter  = 5 // after which a person is told
	// GiveUp is after how long a client gives a silent master up, unless told otherwise.
	GiveUp = 20 * time.Second
)

// liveness watches whether a master lives while requests wait for it. An answer that takes long is
// no silence: what counts is any byte of any answer, and the answer to /health, which a master that
// lives always has. One whose process or machine is frozen takes connections and says nothing.
type liveness struct {
	probe   func(context.Context) error
	waiting func() // is told once, until the next sign of life
	giveUp  func() (looks int, why error)

	mu      sync.Mutex
	pending map[*request]struct{}
	silent  int // looks since the last sign of life
	told    bool
	probing bool
	stop    context.CancelFunc // of the looking; nil: nothing is pending
	parts   sync.WaitGroup
}

// close ends the looking, also while requests are pending, and waits for it.
func (l *liveness) close() {
	l.mu.Lock()
	if l.stop != nil {
		l.stop()
		l.stop = nil
	}
	l.mu.Unlock()
	l.parts.Wait()
}

// request is one that was begun and not ended: its answer may still be read.
type request struct {
	*liveness
	ctx    context.Context
	cancel context.CancelCauseFunc
	// liveness.mu guards it; a connection that is still being made has bounds of its own
	connected bool
}

// begin makes a request that ends with ctx, or when the master is given up.
func (l *liveness) begin(ctx context.Context) *request {
	r := &request{liveness: l}
	r.ctx, r.cancel = context.WithCancelCause(ctx)
	trace := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) {
		l.mu.Lock()
		defer l.mu.Unlock()
		r.connected = true
	}}
	r.ctx = httptrace.WithClientTrace(r.ctx, trace)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.pending == nil {
		l.pending = map[*request]struct{}{}
	}
	l.pending[r] = struct{}{}
	if l.stop == nil {
		l.silent = 0
		looking, stop := context.WithCancel(context.WithoutCancel(ctx))
		l.stop = stop
		l.parts.Go(func() { l.look(looking) })
	}
	return r
}

// end may be called more than once.
func (r *request) end() {
	r.cancel(nil)
	r.mu.Lock()
	defer r.mu.Unlock()
	if delete(r.pending, r); len(r.pending) == 0 && r.stop != nil {
		r.stop()
		r.stop = nil
	}
}

// reached reports whether the master may have got the request.
func (r *request) reached() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.connected
}

// lives notes a sign of life.
func (l *liveness) lives() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.silent, l.told = 0, false
}

// look counts until ctx ends, with the last request.
func (l *liveness) look(ctx context.Context) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if l.count(ctx) {
				l.waiting()
			}
		case <-ctx.Done():
			return
		}
	}
}

// count counts one look, and reports whether a person is to be told now.
func (l *liveness) count(ctx context.Context) (tell bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var waits []*request
	for r := range l.pending {
		if r.connected {
			waits = append(waits, r)
		}
	}
	if len(waits) == 0 || ctx.Err() != nil {
		l.silent = 0
		return false
	}
	l.silent++
	if most, why := l.giveUp(); l.silent >= most {
		l.silent = 0
		for _, r := range waits {
			r.cancel(why)
		}
		return false
	}
	if l.silent >= probeAfter && !l.probing {
		l.probing = true
		l.parts.Go(func() { l.ask(ctx) })
	}
	tell = l.silent >= tellAfter && !l.told && l.waiting != nil
	l.told = l.told || tell
	return tell
}

// ask asks the master whether it lives.
func (l *liveness) ask(ctx context.Context) {
	if l.probe(ctx) == nil {
		l.lives()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.probing = false
}

// answerBody is the body of an answer. Every read is a sign of life, and the request ends with it.
type answerBody struct {
	io.ReadCloser
	request *request
	broke   func(error) error
}

func (b *answerBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if n > 0 {
		b.request.lives()
	}
	if err != nil && err != io.EOF {
		err = b.broke(err)
	}
	return n, err
}

func (b *answerBody) Close() error {
	defer b.request.end()
	return b.ReadCloser.Close()
}

// health asks whether the master lives, on a connection that no other request uses.
func (c *Client) health(ctx context.Context) error {
	r, err := c.request(ctx, http.MethodGet, "/health", nil, nil)
	if err != nil {
		return err
	}
	answer, err := c.http.Do(r)
	if err != nil {
		return err
	}
	return answer.Body.Close()
}

// silence is that a master was given up after such a time.
func (c *Client) silence(after time.Duration) *Unreachable {
	return &Unreachable{
		Who:    c.name,
		Sent:   true,
		err:    ErrSilent,
		Why:    fmt.Sprintf("no response for %v", after),
		Remedy: hungRemedy,
	}
}
