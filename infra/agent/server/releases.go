package server

import (
	"io"
	"net/http"

	"mlframework/infra/agent"
	"mlframework/infra/filesync"
)

// files has filesync's conversation with a client, in the bodies of one request and its answer:
// what the client says flows while the host answers. What is refused filesync says itself.
func (s *server) files(w http.ResponseWriter, r *http.Request) {
	w.WriteHeader(http.StatusOK)
	out := flushed{w, http.NewResponseController(w)}
	if out.to.Flush() != nil {
		return // the client is gone
	}
	_ = filesync.Serve(r.Context(), struct {
		io.Reader
		io.Writer
	}{r.Body, out}, filesync.ServeOptions{Root: r.URL.Query().Get("root")})
}

// flushed sends what is written at once: who writes has a buffer.
type flushed struct {
	http.ResponseWriter
	to *http.ResponseController
}

func (f flushed) Write(p []byte) (int, error) {
	n, err := f.ResponseWriter.Write(p)
	if err == nil {
		err = f.to.Flush()
	}
	return n, err
}

// revisions answers with the releases of a root.
func (s *server) revisions(w http.ResponseWriter, r *http.Request) {
	names, err := filesync.Revisions(r.URL.Query().Get("root"))
	if err != nil {
		fail(w, err)
		return
	}
	answer(w, agent.Revisions{Names: names})
}

// sendRelease answers with a release, for a host that lacks it.
func (s *server) sendRelease(w http.ResponseWriter, r *http.Request) {
	begun := false
	err := filesync.SendRelease(r.Context(), r.URL.Query().Get("root"), r.PathValue("revision"),
		func() io.Writer {
			begun = true
			return w
		})
	switch {
	case err != nil && begun:
		panic(http.ErrAbortHandler) // so that the end is not taken for that of the release
	case err != nil:
		fail(w, err)
	}
}

// takeRelease makes a release of what another host has sent.
func (s *server) takeRelease(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	id := filesync.Identity{Owner: q.Get("owner"), Cluster: q.Get("cluster"), Who: q.Get("who")}
	err := filesync.TakeRelease(r.Context(), q.Get("root"), r.PathValue("revision"), id, r.Body)
	if err != nil {
		fail(w, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}
