package monitor

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// A live stream: how often it says something at least, how long a browser may take to read, and how
// long it waits to come back.
const (
	keepAliveInterval = 15 * time.Second
	writeTimeout      = 10 * time.Second
	retryDelay        = 2 * time.Second
)

func sweepTopic(r *http.Request) string { return sweepTopicPrefix + r.PathValue("sweep") }

// changeEvent is the data of an event: fetch the part as of this version; away, when the master
// does not answer, says why.
type changeEvent struct {
	Version int64  `json:"version"`
	Away    string `json:"away,omitempty"`
}

// live tells a browser what version its page has. The first event comes at once: what changed while
// the page was on its way is in it. The stream ends with the
// session, which does not fall idle while it is read.
func (m *Monitor) live(w http.ResponseWriter, r *request, p page) error {
	reader := m.hub.join(p.topic(r.Request), r.session)
	if reader == nil {
		return &fault{status: http.StatusServiceUnavailable, Text: "Too many pages are open.",
			Remedy: "Close some."}
	}
	defer reader.leave()
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // asks nginx to pass events on as they come
	out := http.NewResponseController(w)
	// there is nothing more to read; the bound of requests would end the stream
	_ = out.SetReadDeadline(time.Time{})
	write := func(text string) bool {
		_ = out.SetWriteDeadline(time.Now().Add(writeTimeout))
		_, err := fmt.Fprint(w, text)
		return err == nil && out.Flush() == nil
	}
	alive := time.NewTicker(keepAliveInterval)
	defer alive.Stop()
	id := m.sessionID(r.Request)
	text, seen := fmt.Sprintf("retry: %d\n", retryDelay.Milliseconds()), int64(0)
	for {
		now := reader.state()
		if now.closed || m.sessions.find(id) == nil {
			return nil
		}
		if now.version != seen {
			text, seen = text+event(now), now.version
		}
		if !write(text) {
			return nil
		}
		select {
		case <-now.changed:
			text = ""
		case <-alive.C:
			text = ": still here\n\n"
		case <-r.Context().Done():
			return nil
		}
	}
}

func event(s topicState) string {
	t := changeEvent{Version: s.version}
	if s.unreachable != nil {
		t.Away = unreachableText(s.unreachable)
	}
	data, _ := json.Marshal(t) // two plain fields
	return "event: change\ndata: " + string(data) + "\n\n"
}
