package httpserver

import (
	"log/slog"
	"net/http"
	"runtime/debug"
)

// Recorder records whether an answer has begun.
type Recorder struct {
	http.ResponseWriter
	Begun bool
}

// Unwrap lets http.ResponseController find what can flush.
func (w *Recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader implements http.ResponseWriter.
func (w *Recorder) WriteHeader(status int) {
	w.Begun = true
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *Recorder) Write(p []byte) (int, error) {
	w.Begun = true
	return w.ResponseWriter.Write(p)
}

// Recover, when it is deferred, logs a panic of a handler and has respond answer the request. An
// answer that has begun is cut off instead, so that it is not taken for a complete one. Server
// names the program's part in the log: "the API".
func (w *Recorder) Recover(log *slog.Logger, server string, r *http.Request,
	respond func(fault any)) {
	value := recover()
	switch {
	case value == nil:
		return
	case value == http.ErrAbortHandler:
		panic(value)
	}
	log.Error("fault in "+server+"; it goes on", "method", r.Method, "path", r.URL.Path,
		"fault", value, "stack", string(debug.Stack()))
	if w.Begun {
		panic(http.ErrAbortHandler)
	}
	respond(value)
}
