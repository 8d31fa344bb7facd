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

// What a client does while a master is silent, in ticks of one second: they are counted, so that a
// client which was itself suspended for an hour has missed one tick, not the master's answer.
const (
	checkInterval = time.Second
	probeAfter    = 3 // ticks of silence after which the master's health is probed
	warnAfter     = 5 // ticks of silence after which the user is warned
	// GiveUp is the default time after which a client gives up on a silent master.
	GiveUp = 20 * time.Second
)

// liveness watches whether a master is alive while requests wait for it. A slow answer is not
// silence: any byte of any answer counts, and so does the answer to /health, which a live master
// gives at once. A master whose process or machine is frozen accepts connections and never answers.
type liveness struct {
	probe  func(context.Context) error
	warn   func() // called once per silence
	giveUp func() (ticks int, cause error)

	mu      sync.Mutex
	pending map[*request]struct{}
	silent  int // ticks since the last sign of life
	warned  bool
	probing bool
	stop    context.CancelFunc // of run; nil: nothing is pending
	parts   sync.WaitGroup
}

// close stops the watching, even while requests are pending, and waits until it has ended.
func (l *liveness) close() {
	l.mu.Lock()
	if l.stop != nil {
		l.stop()
		l.stop = nil
	}
	l.mu.Unlock()
	l.parts.Wait()
}

// request is a request in flight: its answer may still be read.
type request struct {
	*liveness
	ctx    context.Context
	cancel context.CancelCauseFunc
	// liveness.mu guards it; a connection that is still being made has bounds of its own
	connected bool
}

// begin returns a request that ends with ctx, or when the client gives up on the master.
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
		watching, stop := context.WithCancel(context.WithoutCancel(ctx))
		l.stop = stop
		l.parts.Go(func() { l.run(watching) })
	}
	return r
}

// end ends the request. It may be called more than once.
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

// alive records a sign of life.
func (l *liveness) alive() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.silent, l.warned = 0, false
}

// run ticks until ctx ends, which it does with the last request.
func (l *liveness) run(ctx context.Context) {
	tick := time.NewTicker(checkInterval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if l.tick(ctx) {
				l.warn()
			}
		case <-ctx.Done():
			return
		}
	}
}

// tick counts one second of silence, and reports whether to warn the user now.
func (l *liveness) tick(ctx context.Context) (warnNow bool) {
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
		l.parts.Go(func() { l.checkHealth(ctx) })
	}
	warnNow = l.silent >= warnAfter && !l.warned && l.warn != nil
	l.warned = l.warned || warnNow
	return warnNow
}

// checkHealth probes the master's health.
func (l *liveness) checkHealth(ctx context.Context) {
	if l.probe(ctx) == nil {
		l.alive()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.probing = false
}

// answerBody is the body of an answer. Every read is a sign of life, and the request ends with it.
type answerBody struct {
	io.ReadCloser
	request   *request
	readError func(error) error
}

func (b *answerBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if n > 0 {
		b.request.alive()
	}
	if err != nil && err != io.EOF {
		err = b.readError(err)
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
		Target: c.name,
		Sent:   true,
		err:    ErrSilent,
		Reason: fmt.Sprintf("no response for %v", after),
		Remedy: hungRemedy,
	}
}
