package worker

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"mlframework/sweep/task"
)

// startLog keeps the latest start event of each slot in a file. If a program kills its worker at
// once, the unsent event of its start is lost with the process; the worker's next process reads it
// from here and sends it, so that the attempt is charged. A file is overwritten in place, and is
// not synced: data survives the end of a process without that.
type startLog struct {
	worker string
	log    *slog.Logger

	mu sync.Mutex
	// "": nothing is kept
	folder string
	files  map[int]*os.File // by slot
	// the first failure has been logged
	failed bool
}

func (l *startLog) init(o Options) {
	l.worker, l.log, l.files = o.Name, o.Log, map[int]*os.File{}
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
			continue
		}
		// The rest of a longer record may follow.
		if json.NewDecoder(bytes.NewReader(text)).Decode(&event) != nil ||
			event.Kind != task.StartedEvent || event.Worker != l.worker {
			kept = false // it could not be written
			continue
		}
		events = append(events, event)
	}
	if err := os.MkdirAll(l.folder, 0o700); err != nil {
		l.logFailure(err)
	}
	return events, kept
}

// record stores the start of an attempt in a slot before its program starts. If it cannot, the next
// process finds that the record is not complete.
func (l *startLog) record(slot int, e task.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.folder == "" {
		return
	}
	text, err := json.Marshal(e)
	if err != nil {
		return // an event can always be written
	}
	f := l.files[slot]
	if f == nil {
		f, err = os.OpenFile(filepath.Join(l.folder, strconv.Itoa(slot)), os.O_CREATE|os.O_WRONLY,
			0o600)
		if err != nil {
			l.giveUp(err)
			return
		}
		l.files[slot] = f
	}
	if _, err := f.WriteAt(text, 0); err != nil {
		l.logFailure(err)
		if err := f.Truncate(0); err != nil {
			l.giveUp(err)
		}
	}
}

// giveUp removes the record, as it cannot even say that it lacks a start. The caller holds the
// lock.
func (l *startLog) giveUp(err error) {
	l.logFailure(err)
	l.removeAll()
	l.folder = ""
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
	if l.folder != "" {
		l.removeAll()
	}
}

// removeAll removes the files and their folder. The caller holds the lock.
func (l *startLog) removeAll() {
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
