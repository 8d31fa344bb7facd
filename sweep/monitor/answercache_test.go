package monitor_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"sync"
	"testing"

	"mlframework/sweep/api"
	"mlframework/sweep/monitor"
)

// unresponsiveMaster is a master that answers no question with a filter. It says which of those it
// gets and which nobody waits for any more.
type unresponsiveMaster struct {
	client      *api.Client
	asked, left chan string
}

func newUnresponsiveMaster(t *testing.T) *unresponsiveMaster {
	m := &unresponsiveMaster{asked: make(chan string, 100), left: make(chan string, 100)}
	var goroutines sync.WaitGroup
	m.client = api.DialBy("unresponsive", func(context.Context) (net.Conn, error) {
		client, server := net.Pipe()
		goroutines.Go(func() {
			defer server.Close()
			in := bufio.NewReader(server)
			for {
				r, err := http.ReadRequest(in)
				if err != nil {
					return
				}
				if where := r.URL.Query().Get("where"); where != "" {
					m.asked <- where
					_, _ = in.ReadByte() // until it is cancelled
					m.left <- where
					return
				}
				text := `{"version":1,"sweeps":[],"workers":[]}`
				_, _ = fmt.Fprintf(server, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"+
					"Content-Length: %d\r\n\r\n%s", len(text), text)
			}
		})
		return client, nil
	})
	t.Cleanup(func() { m.client.Close(); goroutines.Wait() })
	return m
}

// TestOneVisitorLeavesSlotsToOthers has a visitor ask for much that takes forever.
func TestOneVisitorLeavesSlotsToOthers(t *testing.T) {
	t.Parallel()
	master := newUnresponsiveMaster(t)
	s := newSite(t, func(o *monitor.Options) { o.Master = master.client })
	greedy, other := s.enter(monitor.Viewer), s.enter(monitor.Viewer)
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	var waiting sync.WaitGroup
	defer waiting.Wait()
	ask := func(v *visitor, name string) {
		waiting.Go(func() {
			r, _ := http.NewRequestWithContext(ctx, "GET", s.url+"/tasks?where="+name, nil)
			if a, err := v.http.Do(r); err == nil {
				a.Body.Close()
			}
		})
	}
	for i := range 6 {
		ask(greedy, fmt.Sprint("greedy-", i))
	}
	waitedFor := map[string]bool{"other": true, <-master.asked: true, <-master.asked: true}
	ask(other, "other")
	if where := <-master.asked; where != "other" {
		t.Errorf("beside two of its questions the greedy visitor asks %s", where)
	}
	if p := other.get("/workers"); p.status != http.StatusOK {
		t.Errorf("the workers meanwhile: %d", p.status)
	}
	leave()
	for len(waitedFor) > 0 { // it ends as each is cancelled
		delete(waitedFor, <-master.left)
	}
}
