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

// begun keeps what began last in each slot, in a file for each, until the next begins there. A program that kills its worker
// at once takes the event of its start along, which was not sent yet; the next process of the worker finds it here and tells
// it, so that the attempt is charged. Files are written and not synced: the end of a process does not lose them.
type begun struct {
	worker string
	folder string // "": nothing is kept
	log    *slog.Logger

	mu     sync.Mutex
	files  map[int]*noted
	failed bool // that is said once
}

// noted is the file of a slot.
type noted struct {
	*os.File
	size int // of what is in it, at most
}

func (b *begun) init(o Options) {
	b.worker, b.log, b.files = o.Name, o.Log, map[int]*noted{}
	if o.Spool != "" {
		b.folder = o.Spool + ".begun"
	}
}

// before is the starts that the process before this one kept, and whether it kept any there could be. Ends of theirs that
// were told stand before them in the order of events: then they change nothing.
func (b *begun) before() (events []task.Event, kept bool) {
	if b.folder == "" {
		return nil, false
	}
	entries, err := os.ReadDir(b.folder)
	kept = err == nil
	for _, e := range entries {
		var event task.Event
		text, err := os.ReadFile(filepath.Join(b.folder, e.Name()))
		if err != nil {
			kept = false
		} else if json.Unmarshal(text, &event) == nil && event.Kind == task.StartedEvent && event.Worker == b.worker { // else it was cut while it was written: then nothing began
			events = append(events, event)
		}
	}
	if err := os.MkdirAll(b.folder, 0o700); err != nil {
		b.fail(err)
	}
	return events, kept
}

// note keeps the start of an attempt in a slot, before its program begins.
func (b *begun) note(slot int, e task.Event) {
	if b.folder == "" {
		return
	}
	text, err := json.Marshal(e)
	if err != nil {
		return // an event can always be written
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	f := b.files[slot]
	if f == nil {
		file, err := os.OpenFile(filepath.Join(b.folder, strconv.Itoa(slot)), os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			b.fail(err)
			return
		}
		f = &noted{file, math.MaxInt}
		b.files[slot] = f
	}
	size := f.size
	f.size = math.MaxInt
	if _, err := f.WriteAt(text, 0); err != nil {
		b.fail(err)
		return
	}
	if len(text) < size {
		if err := f.Truncate(int64(len(text))); err != nil {
			b.fail(err)
			return
		}
	}
	f.size = len(text)
}

func (b *begun) fail(err error) {
	if !b.failed {
		b.failed = true
		b.log.Warn("what begins is not noted: should this process be killed, some starts may not be told", "error", err)
	}
}

// close drops what every attempt's end has told, that of earlier processes too.
func (b *begun) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.folder == "" {
		return
	}
	for slot, f := range b.files {
		if err := f.Close(); err != nil {
			b.fail(err)
		}
		delete(b.files, slot)
	}
	if err := os.RemoveAll(b.folder); err != nil {
		b.fail(err)
	}
}
