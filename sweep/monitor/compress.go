package monitor

import (
	"compress/gzip"
	"net/http"
	"strings"
)

// acceptsGzip reports whether a browser reads answers that are compressed.
func acceptsGzip(r *http.Request) bool {
	for coding := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		name, weight, _ := strings.Cut(strings.TrimSpace(coding), ";")
		if strings.EqualFold(name, "gzip") {
			return strings.TrimSpace(weight) != "q=0"
		}
	}
	return false
}

// send answers with a text, compressed where the browser reads that. No page holds a secret whose
// length could be guessed by what another site has the browser ask for.
func send(w http.ResponseWriter, r *request, status int, kind string, text []byte) {
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Set("Vary", "Accept-Encoding")
	if !acceptsGzip(r.Request) {
		w.WriteHeader(status)
		_, _ = w.Write(text) // else the browser went away
		return
	}
	h.Set("Content-Encoding", "gzip")
	w.WriteHeader(status)
	packed := gzip.NewWriter(w)
	_, _ = packed.Write(text)
	_ = packed.Close()
}
