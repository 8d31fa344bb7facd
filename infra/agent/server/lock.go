package server

import (
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

// lock takes a lock and holds it until the request's body ends, or the connection. The holder's
// line is written into the file, for people and for other releases.
func (s *server) lock(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	folder := filepath.Dir(q.Get("file"))
	_, missing := os.Lstat(folder)
	f, err := takeLock(agent.LockRequest{File: q.Get("file"), Holder: q.Get("holder"),
		Break: q.Get("break") == "true"})
	if err != nil {
		fail(w, err)
		return
	}
	defer f.Close()
	w.WriteHeader(http.StatusOK)
	_ = http.NewResponseController(w).Flush()
	_, _ = io.Copy(io.Discard, r.Body)
	release(f)
	if errors.Is(missing, os.ErrNotExist) {
		_ = os.Remove(folder) // it stays when the holder has written something there
	}
}

// release removes the file of a lock that is held, if it is still that file: after a Break there is
// another of the same name. Those who opened it meanwhile find that it was removed, and try again.
func release(f *os.File) {
	if still, err := isNamed(f); err == nil && still {
		_ = os.Remove(f.Name()) // a file that stays is not locked
	}
}

// takeLock creates the file of a lock and locks it.
func takeLock(q agent.LockRequest) (*os.File, error) {
	if !filepath.IsAbs(q.File) {
		return nil, fmt.Errorf("%q is not an absolute path", q.File)
	}
	if q.Break {
		if err := ignoreMissing(os.Remove(q.File)); err != nil {
			return nil, err
		}
	}
	for {
		if err := os.MkdirAll(filepath.Dir(q.File), 0o700); err != nil {
			return nil, err
		}
		f, err := os.OpenFile(q.File, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
		if errors.Is(err, os.ErrNotExist) {
			continue // another holder has removed the folder
		}
		if err != nil {
			return nil, err
		}
		still := false
		if err = flock(f); err == nil {
			still, err = isNamed(f)
		}
		if err == nil && still {
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

// flock locks an open file.
func flock(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	switch {
	case errors.Is(err, syscall.EWOULDBLOCK):
		holder := make([]byte, 1024)
		n, _ := f.ReadAt(holder, 0) // empty while the holder writes it
		text := strings.Join(strings.Fields(string(holder[:n])), " ")
		return &agent.Error{Text: f.Name() + " is locked", Holder: orSomebody(text)}
	case err != nil:
		return fmt.Errorf("lock %s: %w: its file system has no locks; take another folder with -r",
			f.Name(), err)
	}
	return nil
}

// isNamed reports whether an open file is still the one at its path.
func isNamed(f *os.File) (bool, error) {
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
