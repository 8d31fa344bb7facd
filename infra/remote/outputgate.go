package remote

import (
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// outputGate lets output through to who asked for it until it is shut.
type outputGate struct {
	to   io.Writer   // nil: dropped
	fail func(error) // told what to.Write said

	shut atomic.Bool
	mu   sync.Mutex // held while writing
}

func (g *outputGate) Write(p []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.to == nil || g.shut.Load() {
		return len(p), nil // so that the command can go on to its end
	}
	_, err := g.to.Write(p)
	if err != nil {
		g.fail(err)
		g.shut.Store(true)
	}
	return len(p), nil
}

// close lets nothing through any more. It waits for a write that is under way, but not for one that
// hangs.
func (g *outputGate) close() {
	g.shut.Store(true)
	idle := make(chan struct{})
	go func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		close(idle)
	}()
	late := time.NewTimer(grace)
	defer late.Stop()
	select {
	case <-idle:
	case <-late.C:
	}
}

// stderrKept is what an error keeps of what a command wrote to stderr, in bytes.
const stderrKept = 4 << 10

// tail keeps the end of what is written, and passes all of it on.
type tail struct {
	to io.Writer
	mu sync.Mutex
	b  []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	t.b = append(t.b, p[max(0, len(p)-stderrKept):]...)
	if over := len(t.b) - stderrKept; over > 0 {
		t.b = append(t.b[:0], t.b[over:]...)
	}
	t.mu.Unlock()
	return t.to.Write(p)
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.b)
}
