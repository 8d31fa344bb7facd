package server

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"mlframework/sweep/api"
	"mlframework/sweep/task"
)

func (s *Server) health(_ http.ResponseWriter, _ *http.Request) (any, error) {
	h := api.Health{Up: true, Program: s.o.Program, Version: task.Version, Warnings: []api.Reason{}}
	for _, m := range s.o.Master.Missing() {
		h.Warnings = append(h.Warnings, api.Reason{What: "store", Text: m.String(),
			Since: timeOrNull(m.Since)})
	}
	for _, err := range s.o.Master.Damaged() {
		h.Warnings = append(h.Warnings, api.Reason{What: "store", Text: err.Error()})
	}
	for _, r := range s.o.Master.Rivals() {
		h.Warnings = append(h.Warnings, api.Reason{What: "worker", Text: r.String(),
			Since: timeOrNull(r.Since)})
	}
	return h, nil
}

// readyTime is how long the master's loop may take to show that it lives.
const readyTime = 5 * time.Second

func (s *Server) ready(w http.ResponseWriter, r *http.Request) (any, error) {
	ctx, cancel := context.WithTimeout(r.Context(), readyTime)
	defer cancel()
	is := api.Readiness{Reasons: []api.Reason{}}
	q := s.o.Broker.Status()
	switch since := timeOrNull(q.Since); {
	case q.Unreachable:
		is.Reasons = append(is.Reasons, api.Reason{What: "broker",
			Text: cmp.Or(q.Reason, "the broker cannot be reached"), Since: since})
	case q.Blocked != "":
		is.Reasons = append(is.Reasons, api.Reason{What: "broker", Text: q.Blocked})
	}
	// A loop that answers can still write the store.
	if _, err := s.o.Master.Workers(ctx); err != nil {
		is.Reasons = append(is.Reasons, api.Reason{What: "store", Text: err.Error()})
	}
	if is.Ready = len(is.Reasons) == 0; is.Ready {
		return is, nil
	}
	writeJSON(w, http.StatusServiceUnavailable, is)
	return nil, nil
}

func (s *Server) broker(_ http.ResponseWriter, r *http.Request) (any, error) {
	queues, err := flag(r.URL.Query(), "queues")
	if err != nil {
		return nil, err
	}
	q := s.o.Broker.Status()
	b := api.Broker{Unreachable: q.Unreachable, Since: timeOrNull(q.Since),
		Reason:  textOrNull(q.Reason),
		Blocked: textOrNull(q.Blocked),
		Program: textOrNull(q.Program), Revisions: textOrNull(s.o.Revisions)}
	if queues {
		s.addQueues(r, &b)
	}
	return b, nil
}

// addQueues adds what waits in the queues, and how many messages were refused, as far as the
// master's loop and the broker say it in time.
func (s *Server) addQueues(r *http.Request, b *api.Broker) {
	ctx, cancel := context.WithTimeout(r.Context(), readyTime)
	defer cancel()
	if stats, err := s.o.Master.Stats(ctx); err == nil {
		refused := s.o.Broker.Status().Refused + stats.Refused
		b.Refused = &refused
	}
	if all, err := s.o.Master.Depths(ctx); err == nil {
		b.Queues = all
	}
}

func timeOrNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	utc := t.UTC()
	return &utc
}

func textOrNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
