package api_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"mlframework/sweep/api"
)

// pipes is a listener within one process: what is dialled is accepted.
type pipes struct {
	conns chan net.Conn
	ended chan struct{}
	end   func()
}

func newPipes() *pipes {
	p := &pipes{conns: make(chan net.Conn), ended: make(chan struct{})}
	p.end = sync.OnceFunc(func() { close(p.ended) })
	return p
}

func (p *pipes) dial(ctx context.Context) (net.Conn, error) {
	here, there := net.Pipe()
	select {
	case p.conns <- there:
		return here, nil
	case <-p.ended:
	case <-ctx.Done():
	}
	return nil, net.ErrClosed
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-p.conns:
		return conn, nil
	case <-p.ended:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { p.end(); return nil }
func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }

// What a client says and does while it waits, in the time of the test's own: a master that works is
// waited for, one that is silent is not.
func TestASilentMaster(t *testing.T) {
	t.Parallel()
	pause := func(r *http.Request, d time.Duration) {
		select {
		case <-time.After(d):
		case <-r.Context().Done():
		}
	}
	slow := func(w http.ResponseWriter, r *http.Request) { // a question that takes long
		if !strings.HasSuffix(r.URL.Path, "/health") {
			pause(r, 2*time.Minute)
		}
		_, _ = io.WriteString(w, `{}`)
	}
	frozen := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	// an answer that comes in pieces; nothing else is answered
	trickle := func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/health") {
			frozen(w, r)
			return
		}
		for range 60 {
			pause(r, 2*time.Second)
			_, _ = io.WriteString(w, " ")
			_ = http.NewResponseController(w).Flush()
		}
		_, _ = io.WriteString(w, `{}`)
	}
	wakes := func(w http.ResponseWriter, r *http.Request) { // it is frozen for a while
		pause(r, 12*time.Second)
		_, _ = io.WriteString(w, `{}`)
	}
	// it freezes in the middle of its answer
	begins := func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/health") {
			_, _ = io.WriteString(w, `{"sweeps":[`)
			_ = http.NewResponseController(w).Flush()
		}
		frozen(w, r)
	}
	const told = "waiting for the master at its host: no response for 5s"
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		giveUp time.Duration
		says   string
		after  time.Duration
		fails  bool
	}{
		"a long question":             {slow, 0, "", 2 * time.Minute, false},
		"pieces":                      {trickle, 0, "", 2 * time.Minute, false},
		"frozen":                      {frozen, 0, told, 20 * time.Second, true},
		"frozen within its answer":    {begins, 0, told, 20 * time.Second, true},
		"frozen for a moment":         {wakes, 0, told, 12 * time.Second, false},
		"frozen, for the impatient":   {frozen, 5 * time.Second, "", 5 * time.Second, true},
		"frozen, for one of a minute": {frozen, time.Minute, told, time.Minute, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := newPipes()
				server := &http.Server{Handler: c.answer}
				go func() { _ = server.Serve(p) }()
				client := api.DialBy("its host", p.dial)
				var says []string
				client.Waiting, client.GiveUp = func(text string) {
					says = append(says,
						text)
				}, c.giveUp
				begin := time.Now()
				_, err := client.Sweeps(t.Context(), "", 0)
				if took := time.Since(begin); took < c.after || took > c.after+time.Second {
					t.Errorf("it takes %v, want %v", took, c.after)
				}
				if errors.Is(err, api.ErrSilent) != c.fails || (err != nil) != c.fails {
					t.Errorf("error: %v", err)
				}
				client.Close()
				_ = server.Close()
				synctest.Wait()
				if got := strings.Join(says, "\n"); got != c.says {
					t.Errorf("it says %q, want %q", got, c.says)
				}
			})
		})
	}
}

// A write is repeated while the master that had it is away, and only for as long as that may take.
func TestAWriteThatIsLost(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		back  time.Duration // after which a master answers
		reply int
		says  string
	}{
		"it comes back": {4 * time.Second, http.StatusOK, ""},
		"it does not": {time.Hour, http.StatusOK,
			"cannot be reached: connection closed before it responded; the request may or may " +
				"not have taken effect"},
		"it refuses the second": {time.Second, http.StatusConflict,
			"(an earlier attempt of this request may have succeeded before the master went away)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := newPipes()
				begin, keys := time.Now(), map[string]bool{}
				server := &http.Server{
					Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
						keys[r.Header.Get("Idempotency-Key")] = true
						if time.Since(begin) < c.back {
							panic(http.ErrAbortHandler)
						}
						w.WriteHeader(c.reply)
						_, _ = io.WriteString(w, `{"id": "train-1", "error": "no"}`)
					}),
				}
				go func() { _ = server.Serve(p) }()
				client := api.DialBy("its host", p.dial)
				client.Repeat = 10 * time.Second
				_, err := client.Cancel(t.Context(), "train-1")
				if (err == nil) != (c.says == "") ||
					err != nil && !strings.Contains(err.Error(), c.says) {
					t.Errorf("%v, want %s", err, c.says)
				}
				if took := time.Since(begin); took > 12*time.Second {
					t.Errorf("it takes %v", took)
				}
				if len(keys) != 1 || keys[""] {
					t.Errorf("keys: %v", keys)
				}
				client.Close()
				_ = server.Close()
			})
		})
	}
}
