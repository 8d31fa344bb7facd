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
// gets and which were cancelled.
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

// TestVisitorsShareAQuestion has some ask at one moment what takes forever: the master is asked
// once, pages that need something else do not wait, and the monitor's end is the question's.
func TestVisitorsShareAQuestion(t *testing.T) {
	t.Parallel()
	master := newUnresponsiveMaster(t)
	s := newSite(t, func(o *monitor.Options) { o.Master = master.client })
	s.still()
	other := s.enter(monitor.Viewer)
	var waiting sync.WaitGroup
	for range 6 {
		v := s.enter(monitor.Viewer)
		waiting.Go(func() {
			if p, err := v.http.Get(s.url + "/tasks?where=slow"); err == nil {
				p.Body.Close()
			}
		})
	}
	<-master.asked
	for range 20 { // meanwhile the others ask
		if p := other.get("/workers"); p.status != http.StatusOK {
			t.Errorf("the workers meanwhile: %d", p.status)
		}
	}
	s.monitor.Close()
	<-master.left
	waiting.Wait()
	if n := len(master.asked); n > 0 {
		t.Errorf("it was asked %d times more", n)
	}
}
