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

	"mlframework/sweep/core"
)

// The monitor's part of the audit: JSON lines in its state folder, as it may not write to the
// master. Logins that were refused have a file of their own, so that no stranger can push out who
// came in. check-status reads both by name.
const (
	acceptedFile = "audit.jsonl"
	refusedFile  = "audit-refused.jsonl"
)

// maxAuditLogBytes is how large such a file grows, in bytes, before it becomes the older one (.1),
// which it replaces.
const maxAuditLogBytes = 512 << 10

// wrongSpan is the time for which wrong logins are counted together.
const wrongSpan = time.Hour

// auditLog writes audit entries. It is safe for concurrent use.
type auditLog struct {
	state string

	mu    sync.Mutex
	wrong map[string]failedLogins // by way
}

// failedLogins counts the failed logins of one span.
type failedLogins struct {
	since time.Time
	count uint64
}

// next counts a wrong login, and reports whether it gets an entry: the first of a span, the second,
// the fourth, and so on.
func (l failedLogins) next(now time.Time) (failedLogins, bool) {
	if since := now.Sub(l.since); since < 0 || since >= wrongSpan {
		l = failedLogins{since: now}
	}
	l.count++
	return l, bits.OnesCount64(l.count) == 1
}

// loginRefused records a wrong login, if it gets an entry.
func (j *auditLog) loginRefused(way, from string, now time.Time) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	l, entry := j.wrong[way].next(now)
	if j.wrong == nil {
		j.wrong = map[string]failedLogins{}
	}
	if j.wrong[way] = l; !entry {
		return nil
	}
	detail := fmt.Sprintf("way=%s from=%s tries=%d since=%s", way, hostOf(from), l.count,
		l.since.UTC().Format(time.RFC3339))
	return j.write(refusedFile, core.AuditEntry{Time: now, Action: "login",
		Detail: detail, Outcome: core.AuditRefused})
}

// accepted records a successful action.
func (j *auditLog) accepted(action, detail string, now time.Time) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.write(acceptedFile, core.AuditEntry{Time: now, Action: action,
		Detail: detail, Outcome: core.AuditDone})
}

// write appends an entry. Only the monitor itself makes a file that is full the older one; who
// makes links just appends.
func (j *auditLog) write(name string, a core.AuditEntry) error {
	path := filepath.Join(j.state, name)
	if info, err := os.Lstat(path); err == nil && info.Size() >= maxAuditLogBytes {
		err = os.Rename(path, path+".1")
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("write the monitor's audit: %w", err)
		}
	}
	return appendEntry(path, a)
}

// appendEntry appends one line in one call: two processes may write at once.
func appendEntry(path string, a core.AuditEntry) error {
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

// hostOf returns an address without its port.
func hostOf(address string) string {
	if host, _, err := net.SplitHostPort(address); err == nil {
		return host
	}
	return address
}
