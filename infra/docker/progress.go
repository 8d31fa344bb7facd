package docker

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
)

// Progress is one step of something that takes long.
type Progress struct {
	Status string // "Downloading", "Pull complete", "sent", or a line of a build
	Done   int64  // bytes
	Total  int64  // bytes; 0 when not known
}

// Report is told of progress, one call at a time. Nil is told nothing. It should return quickly,
// since the work waits for it.
type Report func(Progress)

// one gives a Report that may be called concurrently.
func (r Report) one() Report {
	if r == nil {
		return func(Progress) {}
	}
	var turn sync.Mutex
	return func(p Progress) {
		turn.Lock()
		defer turn.Unlock()
		r(p)
	}
}

// mostMessage is the longest message of a stream: the most a line of a build may be.
const mostMessage = 1 << 20

// message is one line of the streams in which engines report. Those that end badly do so with
// status 200 and an error here.
type message struct {
	ID       string
	Status   string
	Stream   string
	Progress struct {
		Current, Total int64
	} `json:"progressDetail"`
	Error string
}

// messages reads such a stream to its end. It reports every line, and hands each message to a
// caller who looks for something.
func messages(r io.Reader, report Report, each func(message)) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 4<<10), mostMessage)
	for lines.Scan() {
		if len(lines.Bytes()) == 0 {
			continue
		}
		var m message
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			return fmt.Errorf("read what docker reports: %w", err)
		}
		if m.Error != "" {
			return errors.New(m.Error)
		}
		text := m.Status
		if m.Stream != "" {
			text = m.Stream
		}
		if each != nil {
			each(m)
		}
		for line := range strings.Lines(text) {
			if line = strings.TrimRight(line, "\r\n"); line != "" {
				report(Progress{Status: line, Done: m.Progress.Current, Total: m.Progress.Total})
			}
		}
	}
	return lines.Err()
}
