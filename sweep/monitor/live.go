package monitor

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"mlframework/sweep/api"
)

// A live stream: how often it says something at least, how long a browser may take to read, and how
// long it waits to come back.
const (
	keepAliveInterval = 15 * time.Second
	writeTimeout      = 10 * time.Second
	retryDelay        = 2 * time.Second
)

func sweepTopic(r *http.Request) string { return sweepTopicPrefix + r.PathValue("sweep") }

// change is the data of an event: the blocks that differ from what the browser has. Away says why
// the master does not answer; Reload, that there is no such page any more.
type change struct {
	Blocks []blockChange `json:"blocks,omitempty"`
	Away   string        `json:"away,omitempty"`
	Reload bool          `json:"reload,omitempty"`
}

// live sends a browser the blocks of a page as they change. The browser says what it has: in the URL
// when it has loaded the page, and with the id of the last event when it comes back. The first event
// comes at once: what changed while the page was on its way is in it. The stream ends with the
// session, which does not fall idle while it is read.
func (m *Monitor) live(w http.ResponseWriter, r *request, p page) error {
	reader := m.hub.join(p.topic(r.Request), r.session)
	if reader == nil {
		return &fault{status: http.StatusServiceUnavailable, Text: "Too many pages are open.",
			Remedy: "Close some."}
	}
	defer reader.leave()
	out := newEventStream(w, r)
	alive := time.NewTicker(keepAliveInterval)
	defer alive.Stop()
	has := readShown(r.URL.Query().Get("have"))
	if last := r.Header.Get("Last-Event-ID"); last != "" {
		has = readShown(last)
	}
	id, text := m.sessionID(r.Request), fmt.Sprintf("retry: %d\n", retryDelay.Milliseconds())
	for {
		now := reader.state()
		if now.closed || m.sessions.find(id) == nil {
			return nil
		}
		begun := time.Now()
		r.version = now.version
		c, refresh := m.changes(r, p, now, has)
		if reader.state().closed || !out.send(text+event(c, has)) {
			return nil
		}
		text = ""
		// what takes long is asked for less often
		pause := time.Since(begun)
		if pause < notifyInterval {
			pause = 0
		}
		if !m.untilDue(r, now, pause, refresh, alive, out) {
			return nil
		}
	}
}

// untilDue waits until a page has to be looked at again: when it changed, but not before a pause is
// over, and at the latest after refresh where that is not 0. Meanwhile the stream says that it is
// still there. It returns false when the stream ends.
func (m *Monitor) untilDue(r *request, now topicState, pause, refresh time.Duration,
	alive *time.Ticker, out eventStream) bool {
	changed := now.changed
	var rested, due <-chan time.Time
	if pause > 0 {
		changed, rested = nil, time.After(pause)
	}
	if refresh > 0 {
		due = time.After(refresh + pause)
	}
	id := m.sessionID(r.Request)
	for {
		select {
		case <-changed:
			return true
		case <-due:
			return true
		case <-rested:
			changed, rested = now.changed, nil
		case <-alive.C:
			if m.sessions.find(id) == nil || !out.send(": still here\n\n") {
				return false
			}
		case <-m.answers.ctx.Done(): // the monitor stops
			return false
		case <-r.Context().Done():
			return false
		}
	}
}

// changes returns what a browser lacks of a page, and after what time that is another though nobody
// tells of a change; 0: never.
func (m *Monitor) changes(r *request, p page, now topicState, has shown) (c change,
	refresh time.Duration) {
	if now.unreachable != nil {
		return change{Away: unreachableText(now.unreachable)}, 0
	}
	f, err := m.load(r, p)
	var all []block
	if err == nil {
		all, err = m.blocks(p, f)
	}
	switch e, refused := errors.AsType[*api.Error](err); {
	case err == nil:
		c.Blocks = has.update(all)
	case refused && e.Status == http.StatusNotFound:
		return change{Reload: true}, 0
	default:
		c.Away = unreachableText(err)
	}
	return c, f.refresh
}

// event writes an event, whose id is what the browser has then.
func event(c change, has shown) string {
	var data strings.Builder
	encoder := json.NewEncoder(&data)
	encoder.SetEscapeHTML(false) // it stands in no page
	_ = encoder.Encode(c)        // of plain fields; a line
	return "event: change\nid: " + has.String() + "\ndata: " + data.String() + "\n"
}
