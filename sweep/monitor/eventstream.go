package monitor

import (
	"compress/flate"
	"io"
	"net/http"
	"sync"
	"time"
)

// eventStream writes server-sent events, compressed where the browser reads that.
type eventStream struct {
	to     http.ResponseWriter
	out    *http.ResponseController
	packed bool
}

// gzipHeader begins a gzip file without name and time (RFC 1952, 2.3).
const gzipHeader = "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"

// packers are compressors. Each has hundreds of KiB: an event takes one and gives it back, and a
// stream that waits has none. What a fresh compressor writes until it is flushed are whole blocks of
// deflate, which follow those of another.
var packers = sync.Pool{New: func() any {
	packer, _ := flate.NewWriter(nil, flate.BestSpeed) // the level is one
	return packer
}}

func newEventStream(w http.ResponseWriter, r *request) eventStream {
	s := eventStream{w, http.NewResponseController(w), acceptsGzip(r.Request)}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // asks nginx to pass events on as they come
	w.Header().Set("Vary", "Accept-Encoding")
	// there is nothing more to read; the bound of requests would end the stream
	_ = s.out.SetReadDeadline(time.Time{})
	if s.packed {
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = io.WriteString(w, gzipHeader) // else the next write fails, too
	}
	return s
}

// send writes a text at once. It returns false when the browser went away.
func (s eventStream) send(text string) bool {
	_ = s.out.SetWriteDeadline(time.Now().Add(writeTimeout))
	var err error
	if s.packed {
		packer := packers.Get().(*flate.Writer)
		packer.Reset(s.to)
		if _, err = io.WriteString(packer, text); err == nil {
			err = packer.Flush()
		}
		packers.Put(packer)
	} else {
		_, err = io.WriteString(s.to, text)
	}
	return err == nil && s.out.Flush() == nil
}
