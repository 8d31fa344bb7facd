package master

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"mlframework/sweep"
	"mlframework/sweep/store"
	"mlframework/sweep/task"
)

// Handler is the master's API, for a Unix socket that only its owner may reach. Answers are JSON; an error is
// {"error": TEXT} with the status 404 (unknown), 409 (cannot be done now), 503 (the master ends) or 500.
//
//	POST /v1/sweeps/{sweep}/cancel                  the sweep as it is then
//	POST /v1/sweeps/{sweep}/pause?stop=true         the same; with stop what runs is stopped too
//	POST /v1/sweeps/{sweep}/tasks/{index}/cancel    the same
//	GET  /v1/sweeps/{sweep}/follow?output=true      one Update per line, until the sweep is idle
func (m *Master) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/sweeps/{sweep}/cancel", m.answer(func(r *http.Request) (sweep.Head, error) {
		return m.Cancel(r.Context(), r.PathValue("sweep"), "cancelled by a person")
	}))
	mux.HandleFunc("POST /v1/sweeps/{sweep}/pause", m.answer(func(r *http.Request) (sweep.Head, error) {
		return m.Pause(r.Context(), r.PathValue("sweep"), "paused by a person", r.URL.Query().Get("stop") == "true")
	}))
	mux.HandleFunc("POST /v1/sweeps/{sweep}/tasks/{index}/cancel", m.answer(func(r *http.Request) (sweep.Head, error) {
		index, err := strconv.ParseInt(r.PathValue("index"), 10, 64)
		if err != nil {
			return sweep.Head{}, &UnknownTask{Sweep: r.PathValue("sweep"), Index: r.PathValue("index")}
		}
		return m.CancelTask(r.Context(), task.ID{Sweep: r.PathValue("sweep"), Index: index}, "cancelled by a person")
	}))
	mux.HandleFunc("GET /v1/sweeps/{sweep}/follow", m.serveFollow)
	return mux
}

func (m *Master) answer(do func(*http.Request) (sweep.Head, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		h, err := do(r)
		if err != nil {
			refuse(w, err)
			return
		}
		s, err := m.o.Store.Sweep(r.Context(), h.ID)
		if err != nil {
			refuse(w, err)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(s.Record.Summary(h)) // the client went away
	}
}

// refusal is the form of an error.
type refusal struct {
	Error string `json:"error"`
}

func refuse(w http.ResponseWriter, err error) {
	status := http.StatusInternalServerError
	if _, unknown := errors.AsType[*store.UnknownSweep](err); unknown {
		status = http.StatusNotFound
	} else if _, unknown := errors.AsType[*UnknownTask](err); unknown {
		status = http.StatusNotFound
	} else if _, wrong := errors.AsType[*WrongState](err); wrong {
		status = http.StatusConflict
	} else if errors.Is(err, ErrStopped) {
		status = http.StatusServiceUnavailable
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(refusal{err.Error()})
}

func (m *Master) serveFollow(w http.ResponseWriter, r *http.Request) {
	watcher, stop, err := m.Watch(r.Context(), r.PathValue("sweep"), r.URL.Query().Get("output") == "true")
	if err != nil {
		refuse(w, err)
		return
	}
	defer stop()
	w.Header().Set("Content-Type", "application/x-ndjson")
	_ = relay(r.Context(), w, watcher) // the client went away
}

func relay(ctx context.Context, w http.ResponseWriter, watcher *Watcher) error {
	lines, flush := json.NewEncoder(w), http.NewResponseController(w)
	for {
		u, err := watcher.Next(ctx)
		if err != nil {
			return err
		}
		if err := errors.Join(lines.Encode(u), flush.Flush()); err != nil {
			return err
		}
		if u.Idle() || u.Closed {
			return nil
		}
	}
}
