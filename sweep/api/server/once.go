package server

import (
	"bytes"
	"crypto/sha256"
	"io"
	"mime"
	"net/http"
	"sync"

	"mlframework/sweep/api"
	"mlframework/sweep/master"
)

// Bounds of what clients may send and of what is remembered for them.
const (
	longestKey = 128  // bytes of a client key
	mostKeys   = 1024 // answers that are kept for repetitions
)

// answers keeps what was answered under client keys. The zero value is ready.
type answers struct {
	mu    sync.Mutex
	all   map[string]*kept
	order []string
}

// kept is the answer to a request, once done is closed.
type kept struct {
	asked  [sha256.Size]byte
	done   chan struct{}
	status int // 0: it broke off, and nothing is known of it
	header http.Header
	body   []byte
}

// once does what a request asks for, or repeats the answer that was given under its client key.
func (s *Server) once(w http.ResponseWriter, r *http.Request, do route) error {
	if r.Method == http.MethodGet {
		return do.do(s, w, r)
	}
	body, done, err := s.bodies.read(w, r)
	if err != nil {
		return err
	}
	defer done()
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	key, err := clientKey(r)
	if err != nil {
		return err
	}
	if len(body) > 0 && do.body != nil && !isJSON(r) {
		return &api.Error{Status: http.StatusUnsupportedMediaType,
			Text:   "the body is not declared to be JSON",
			Remedy: "send it with Content-Type: application/json, or without one"}
	}
	if key == "" || do.asks {
		return do.do(s, w, r)
	}
	k, first := s.answers.find(key, r.Method+" "+r.URL.RequestURI()+"\n"+string(body))
	switch {
	case k == nil:
		return &api.Error{Status: http.StatusConflict,
			Text:   "the client key was used for another request",
			Remedy: "use a new key for each request"}
	case first:
		return s.first(k, key, w, r, do)
	}
	if d := master.DeedOf(r.Context()); d != nil {
		d.Kept = true // with the first
	}
	select {
	case <-k.done:
	case <-r.Context().Done():
		return r.Context().Err()
	}
	if k.status == 0 {
		return &api.Error{Status: http.StatusServiceUnavailable, Text: "the same request broke off",
			Remedy: "try again"}
	}
	return k.write(w)
}

// first does a request for the first time, and keeps its answer unless it may go better another time.
func (s *Server) first(k *kept, key string, w http.ResponseWriter, r *http.Request, do route) (err error) {
	out := &recorder{header: http.Header{}}
	defer func() {
		if k.status == 0 || k.status >= 500 {
			s.answers.forget(key)
		}
		close(k.done)
	}()
	err = do.do(s, out, r)
	if judge(r, err); err != nil {
		refuse(out, err)
	}
	s.keepDeed(r) // who has the answer finds it in the record
	k.status, k.header, k.body = out.status, out.header, out.body.Bytes()
	return k.write(w)
}

// find returns the answer of a key, and whether the caller has to give it; nil when the key is another request's.
func (a *answers) find(key, request string) (k *kept, first bool) {
	asked := sha256.Sum256([]byte(request))
	a.mu.Lock()
	defer a.mu.Unlock()
	if k := a.all[key]; k != nil {
		if k.asked != asked {
			return nil, false
		}
		return k, false
	}
	if a.all == nil {
		a.all = map[string]*kept{}
	}
	if len(a.order) >= mostKeys {
		delete(a.all, a.order[0])
		a.order = a.order[1:]
	}
	k = &kept{asked: asked, done: make(chan struct{})}
	a.all[key], a.order = k, append(a.order, key)
	return k, true
}

// forget drops a key, so that the next request under it is done. Its place in the order may stay.
func (a *answers) forget(key string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.all, key)
}

func (k *kept) write(w http.ResponseWriter) error {
	for name, values := range k.header {
		w.Header()[name] = values
	}
	w.WriteHeader(k.status)
	_, err := w.Write(k.body)
	return err
}

// recorder keeps an answer.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (r *recorder) Header() http.Header { return r.header }

func (r *recorder) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
}

func (r *recorder) Write(p []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	return r.body.Write(p)
}

// isJSON reports whether a body is declared to be JSON, or nothing.
func isJSON(r *http.Request) bool {
	declared := r.Header.Get("Content-Type")
	kind, _, err := mime.ParseMediaType(declared)
	return declared == "" || err == nil && kind == "application/json"
}

func clientKey(r *http.Request) (string, error) {
	all := r.Header.Values(api.KeyHeader)
	if len(all) == 0 {
		return "", nil
	}
	key := all[0]
	if len(all) > 1 || key == "" {
		return "", api.Wrong(api.KeyHeader, "there has to be one client key, or no header for it")
	}
	if len(key) > longestKey {
		return "", api.Wrong(api.KeyHeader, "the client key is longer than 128 bytes")
	}
	for _, b := range []byte(key) {
		if b <= ' ' || b > '~' {
			return "", api.Wrong(api.KeyHeader,
				"the client key has other characters than letters, digits and punctuation")
		}
	}
	return key, nil
}
