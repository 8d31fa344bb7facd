package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"mlframework/infra/agent"
)

// lock takes a lock and holds it as long as the request: until its body ends, or the connection.
// The holder's line stands in the file, for people and for other releases.
func (s *server) lock(w http.ResponseWriter, r *http.Request) {
	var q agent.LockRequest
	d := json.NewDecoder(io.LimitReader(r.Body, maxBody))
	if err := d.Decode(&q); err != nil {
		fail(w, err)
		return
	}
	f, err := takeLock(q)
	if err != nil {
		fail(w, err)
		return
	}
	defer f.Close()
	w.WriteHeader(http.StatusOK)
	_ = http.NewResponseController(w).Flush()
	_, _ = io.Copy(io.Discard, r.Body)
	release(f)
}

// release removes the file of a lock that is held. Who has opened it meanwhile sees that it is not
// the one of its name any more. One that was taken over is another's.
func release(f *os.File) {
	mine, err := f.Stat()
	if err != nil {
		return
	}
	if named, err := os.Lstat(f.Name()); err == nil && os.SameFile(mine, named) {
		_ = os.Remove(f.Name()) // one that stays is locked by nobody
	}
}

// takeLock locks a file.
func takeLock(q agent.LockRequest) (*os.File, error) {
	if !filepath.IsAbs(q.File) {
		return nil, fmt.Errorf("%q is not an absolute path", q.File)
	}
	if err := os.MkdirAll(filepath.Dir(q.File), 0o700); err != nil {
		return nil, err
	}
	if q.Break {
		if err := os.Remove(q.File); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
	}
	for {
		f, err := os.OpenFile(q.File, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
		if err != nil {
			return nil, err
		}
		same, err := flock(f)
		if err == nil && same {
			if err = f.Truncate(0); err == nil {
				_, err = f.WriteAt([]byte(q.Holder+"\n"), 0)
			}
			if err == nil {
				return f, nil
			}
		}
		f.Close()
		if err != nil {
			return nil, err
		}
	}
}

// flock locks an open file; same: it is still the one of its name.
func flock(f *os.File) (same bool, err error) {
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	switch {
	case errors.Is(err, syscall.EWOULDBLOCK):
		holder := make([]byte, 1024)
		n, _ := f.ReadAt(holder, 0) // half written: somebody
		text := strings.Join(strings.Fields(string(holder[:n])), " ")
		return false, &agent.Error{Text: f.Name() + " is locked", Holder: orSomebody(text)}
	case err != nil:
		return false, fmt.Errorf("lock %s: %w: its file system has no locks; take another folder "+
			"with -r",
			f.Name(), err)
	}
	mine, err := f.Stat()
	if err != nil {
		return false, err
	}
	named, err := os.Lstat(f.Name())
	return err == nil && os.SameFile(mine, named), nil
}

func orSomebody(text string) string {
	if text == "" {
		return "somebody"
	}
	return text
}
