package store

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"time"
)

// InUse says that another process writes the store.
type InUse struct {
	Holder string // what it said of itself: name, pid and since when; may be empty
}

func (e *InUse) Error() string {
	if e.Holder == "" {
		return "the store is in use by another process"
	}
	return "the store is in use by " + e.Holder
}

// acquire takes the writer's lock. It is held by the open file, so it ends with the process however that ends.
func acquire(path, name string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		defer f.Close()
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		holder, _ := io.ReadAll(io.LimitReader(f, 1000))
		return nil, &InUse{Holder: strings.TrimSpace(string(holder))}
	}
	note := fmt.Sprintf("%s (pid %d, since %s)\n", name, os.Getpid(), time.Now().Format(time.DateTime))
	if err := errors.Join(f.Truncate(0), write(f, note)); err != nil {
		return nil, errors.Join(err, release(f))
	}
	return f, nil
}

// release gives the lock back. Closing the file alone does not while another goroutine is starting a program: until that is
// executed it holds a copy of the open file.
func release(f *os.File) error {
	return errors.Join(syscall.Flock(int(f.Fd()), syscall.LOCK_UN), f.Close())
}

func write(f *os.File, text string) error {
	_, err := f.WriteAt([]byte(text), 0)
	return err
}
