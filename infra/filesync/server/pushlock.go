package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"mlframework/infra/agent"
	"mlframework/infra/layout"
)

// A holder is who has a root's lock.
type holder struct {
	Who   string    `json:"who"`  // what the client says of itself
	Does  string    `json:"does"` // push or prune
	PID   int       `json:"pid"`  // of the process on Host
	Host  string    `json:"host"`
	Since time.Time `json:"since"`
}

func (h holder) String() string {
	if h.Who == "" {
		return "somebody"
	}
	return fmt.Sprintf("%s (%s since %s, process %d on %s)", h.Who, h.Does,
		h.Since.Format(time.DateTime), h.PID, h.Host)
}

// lockPause is the time between two tries to get the lock.
const lockPause = 25 * time.Millisecond

// lock takes the root's lock and waits for it that long. who and does are for whoever finds it
// taken. It ends with the process. A file system without locks has none: what is made there is made
// under names of its own, so that only removing can get in the way.
func (r *root) lock(
	ctx context.Context, who, does string, wait time.Duration,
) (unlock func(), err error) {
	f, err := r.OpenFile(layout.FilesLock, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	until := time.Now().Add(wait)
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case err == nil, errors.Is(err, syscall.ENOTSUP), errors.Is(err, syscall.ENOSYS),
			errors.Is(err, syscall.ENOLCK):
			sign(f, who, does)
			return func() { f.Close() }, nil
		case errors.Is(err, syscall.EINTR):
			continue
		case !errors.Is(err, syscall.EWOULDBLOCK):
			f.Close()
			return nil, fmt.Errorf("lock %s: %w", filepath.Join(r.path, layout.FilesLock), err)
		}
		if time.Now().After(until) {
			holder := r.holder()
			f.Close()
			return nil, &agent.Error{Holder: holder.String(), Text: fmt.Sprintf(
				"%s is in use by %v: try again when that is done", r.path, holder)}
		}
		select {
		case <-ctx.Done():
			f.Close()
			return nil, ctx.Err()
		case <-time.After(lockPause):
		}
	}
}

// sign writes into the lock who has it; where that cannot be written it only cannot be told.
func sign(f *os.File, who, does string) {
	host, _ := os.Hostname()
	data, err := json.Marshal(holder{who, does, os.Getpid(), host,
		time.Now().UTC().Truncate(time.Second)})
	if err == nil && f.Truncate(0) == nil {
		_, _ = f.WriteAt(data, 0)
	}
}

// holder reads who has the lock.
func (r *root) holder() (h holder) {
	if data, err := r.ReadFile(layout.FilesLock); err == nil {
		_ = json.Unmarshal(data, &h) // half written: somebody
	}
	return h
}
