package monitor

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/bits"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"mlframework/sweep/api"
)

// The monitor's part of the audit: JSON lines in its state folder, as it may not write to the master. Logins that were refused
// have a file of their own, so that no stranger can push out who came in. check-status reads both by name.
const (
	acceptedFile = "audit.jsonl"
	refusedFile  = "audit-refused.jsonl"
)

// longestJournal is how large such a file grows, in bytes, before it becomes the older one (.1), which it replaces.
const longestJournal = 512 << 10

// wrongSpan is the time for which wrong logins are counted together.
const wrongSpan = time.Hour

// journal writes audit entries. It is safe for concurrent use.
type journal struct {
	state string

	mu    sync.Mutex
	wrong map[string]wrongLogins // by way
}

// wrongLogins are those of one span.
type wrongLogins struct {
	since time.Time
	tries uint64
}

// next counts a wrong login, and reports whether it gets an entry: the first of a span, the second, the fourth, and so on.
func (l wrongLogins) next(now time.Time) (wrongLogins, bool) {
	if since := now.Sub(l.since); since < 0 || since >= wrongSpan {
		l = wrongLogins{since: now}
	}
	l.tries++
	return l, bits.OnesCount64(l.tries) == 1
}

// refuse records a wrong login, if it gets an entry.
func (j *journal) refuse(way, from string, now time.Time) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	l, entry := j.wrong[way].next(now)
	if j.wrong == nil {
		j.wrong = map[string]wrongLogins{}
	}
	if j.wrong[way] = l; !entry {
		return nil
	}
	detail := fmt.Sprintf("way=%s from=%s tries=%d since=%s", way, hostOf(from), l.tries, l.since.UTC().Format(time.RFC3339))
	return j.write(refusedFile, api.Action{Time: now, Action: "login", Detail: detail, Outcome: "refused"})
}

// accept records what somebody did who was let in.
func (j *journal) accept(action, detail string, now time.Time) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.write(acceptedFile, api.Action{Time: now, Action: action, Detail: detail, Outcome: "done"})
}

// write appends an entry. Only the monitor itself makes a file that is full the older one; who makes links just appends.
func (j *journal) write(name string, a api.Action) error {
	path := filepath.Join(j.state, name)
	if info, err := os.Lstat(path); err == nil && info.Size() >= longestJournal {
		err = os.Rename(path, path+".1")
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("write the monitor's audit: %w", err)
		}
	}
	return enter(path, a)
}

// enter appends one line in one call: two processes may write at once.
func enter(path string, a api.Action) error {
	a.Time, a.User, a.Kind = a.Time.UTC(), "monitor", "monitor"
	line, err := json.Marshal(a)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err == nil {
		_, err = f.Write(append(line, '\n'))
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return fmt.Errorf("write the monitor's audit: %w", err)
	}
	return nil
}

// hostOf is an address without its port.
func hostOf(address string) string {
	if host, _, err := net.SplitHostPort(address); err == nil {
		return host
	}
	return address
}
