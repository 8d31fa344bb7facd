package worker

import (
	"encoding/json"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"mlframework/sweep/task"
)

// startLog keeps the latest start event of each slot in a file. If a program kills its worker at
// once, the unsent event of its start is lost with the process; the worker's next process reads it
// from here and sends it, so that the attempt is charged. The files are written but not synced:
// data survives the end of a process without that.
type startLog struct {
	worker string
	// "": nothing is kept
	folder string
	log    *slog.Logger

	mu    sync.Mutex
	files map[int]*startFile
	// the first failure has been logged
	failed bool
}

// startFile is the file of a slot.
type startFile struct {
	*os.File
	// upper bound of the bytes in it
	size int
}

func (l *startLog) init(o Options) {
	l.worker, l.log, l.files = o.Name, o.Log, map[int]*startFile{}
	if o.Spool != "" {
		l.folder = o.Spool + ".begun"
	}
}

// previous returns the starts that the worker's previous process recorded, and whether the record
// is complete. Attempts among them whose end is reported already come earlier in the order of
// events, so that their starts change nothing.
func (l *startLog) previous() (events []task.Event, kept bool) {
	if l.folder == "" {
		return nil, false
	}
	entries, err := os.ReadDir(l.folder)
	kept = err == nil
	for _, e := range entries {
		var event task.Event
		text, err := os.ReadFile(filepath.Join(l.folder, e.Name()))
		if err != nil {
			kept = false
		} else if json.Unmarshal(text, &event) == nil &&
			event.Kind == task.StartedEvent && event.Worker == l.worker {
			// an incomplete record was cut while it was written, before the program started
			events = append(events, event)
		}
	}
	if err := os.MkdirAll(l.folder, 0o700); err != nil {
		l.logFailure(err)
	}
	return events, kept
}

// record stores the start of an attempt in a slot before its program starts.
func (l *startLog) record(slot int, e task.Event) {
	if l.folder == "" {
		return
	}
	text, err := json.Marshal(e)
	if err != nil {
		return // an event can always be written
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	f := l.files[slot]
	if f == nil {
		file, err := os.OpenFile(filepath.Join(l.folder, strconv.Itoa(slot)),
			os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			l.logFailure(err)
			return
		}
		f = &startFile{file, math.MaxInt}
		l.files[slot] = f
	}
	size := f.size
	f.size = math.MaxInt
	if _, err := f.WriteAt(text, 0); err != nil {
		l.logFailure(err)
		return
	}
	if len(text) < size {
		if err := f.Truncate(int64(len(text))); err != nil {
			l.logFailure(err)
			return
		}
	}
	f.size = len(text)
}

func (l *startLog) logFailure(err error) {
	if !l.failed {
		l.failed = true
		l.log.Warn("cannot record starts: if this process is killed, some may not be reported",
			"error", err)
	}
}

// close removes the files: the ends of all attempts have been reported.
func (l *startLog) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.folder == "" {
		return
	}
	for slot, f := range l.files {
		if err := f.Close(); err != nil {
			l.logFailure(err)
		}
		delete(l.files, slot)
	}
	if err := os.RemoveAll(l.folder); err != nil {
		l.logFailure(err)
	}
}
