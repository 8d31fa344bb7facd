package server

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"mlframework/sweep/master"
	"mlframework/sweep/queue"
	"mlframework/sweep/store"
)

const metricsPath = "/metrics"

// Bounds of one scrape: sweeps whose tasks are counted, and the wait for the master and for the broker.
const (
	mostOpen    = 200
	mostEnded   = 10
	measureTime = 5 * time.Second
	depthTime   = 2 * time.Second
)

// processMetrics are those of any Go program: memory, descriptors, goroutines.
func processMetrics() *prometheus.Registry {
	r := prometheus.NewRegistry()
	r.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return r
}

// metrics answers what Prometheus collects: what the master counted, and how it, its store and its
// broker stand now.
func (s *Server) metrics(w http.ResponseWriter, r *http.Request) error {
	ctx, cancel := context.WithTimeout(r.Context(), measureTime)
	defer cancel()
	m, err := s.scrape(ctx)
	if err != nil {
		return err
	}
	now := prometheus.NewRegistry()
	now.MustRegister(m)
	all := prometheus.Gatherers{now, s.o.Master.Metrics(), s.process}
	promhttp.HandlerFor(all, promhttp.HandlerOpts{}).ServeHTTP(w, r)
	return nil
}

// scrape is everything that is told at once.
type scrape struct {
	program string
	open    []store.Sweep
	counted []store.Sweep // open ones, and the newest that have ended
	master.Measures
	broker queue.Status
	depths []queue.Depth // nil: not known now
}

func (s *Server) scrape(ctx context.Context) (m *scrape, err error) {
	m = &scrape{program: s.o.Program, broker: s.o.Broker.Status()}
	if m.Measures, err = s.o.Master.Measure(ctx); err != nil {
		return nil, err
	}
	if m.open, _, err = s.o.Store.Unended(ctx); err != nil {
		return nil, err
	}
	ended, err := s.o.Store.Ended(ctx, mostEnded)
	if err != nil {
		return nil, err
	}
	m.counted = slices.Concat(m.open[max(0, len(m.open)-mostOpen):], ended)
	if !m.broker.Away {
		m.depths = s.waiting(ctx)
	}
	return m, nil
}

// waiting asks the broker what waits, for a little while.
func (s *Server) waiting(ctx context.Context) []queue.Depth {
	ctx, cancel := context.WithTimeout(ctx, depthTime)
	defer cancel()
	answer := make(chan []queue.Depth, 1)
	go func() {
		all, _ := s.o.Master.Depths(ctx) // why it fails the broker's state says
		answer <- all
	}()
	select {
	case all := <-answer:
		return all
	case <-ctx.Done():
		return nil
	}
}
