package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
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

// lockFile is the name of the file that says who writes the store.
const lockFile = "lock"

// lock is the writer's. It is held by open files, so it ends with the process however that ends:
// the folder, which nobody can remove and make anew without taking the store away, and a file in
// it, which says who has it, for network file systems, which lock no folders.
type lock struct {
	path string // of the file
	name string

	mu     sync.Mutex
	file   *os.File
	folder *os.File // nil: it cannot be locked here
}

// acquire takes the writer's lock of a folder.
func acquire(folder, name string) (*lock, error) {
	l := &lock{path: filepath.Join(folder, lockFile), name: name}
	dir, err := os.Open(folder)
	if err != nil {
		return nil, err
	}
	switch err := flock(dir); {
	case err == nil:
		l.folder = dir
	case errors.Is(err, syscall.EWOULDBLOCK):
		return nil, errors.Join(l.inUse(), dir.Close())
	default: // not here: the file alone has to do
		_ = dir.Close()
	}
	if l.file, err = l.acquire(); err != nil {
		return nil, errors.Join(err, l.release())
	}
	return l, nil
}

func flock(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }

// acquire makes the file, and locks it.
func (l *lock) acquire() (*os.File, error) {
	f, err := os.OpenFile(l.path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := flock(f); errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, errors.Join(l.inUse(), f.Close())
	} else if err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", l.path, err), f.Close())
	}
	note := fmt.Sprintf("%s (pid %d, since %s)\n", l.name, os.Getpid(),
		time.Now().Format(time.DateTime))
	if err := errors.Join(f.Truncate(0), write(f, note)); err != nil {
		return nil, errors.Join(err, unlock(f))
	}
	return f, nil
}

// inUse is the error of a lock that another process has.
func (l *lock) inUse() error {
	f, err := os.Open(l.path)
	if err != nil { // it was removed: nobody knows who
		return &InUse{}
	}
	defer f.Close()
	holder, _ := io.ReadAll(io.LimitReader(f, 1000))
	return &InUse{Holder: strings.TrimSpace(string(holder))}
}

// renew makes the file again when it was removed or replaced, and reports whether it was. Where
// only the file is locked another process may have taken the store meanwhile: *InUse.
func (l *lock) renew() (renewed bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil || same(l.file, l.path) {
		return false, nil
	}
	f, err := l.acquire()
	if err != nil {
		return false, err
	}
	_ = unlock(l.file) // it has no name any more
	l.file = f
	return true, nil
}

// same reports whether a path still names an open file.
func same(f *os.File, path string) bool {
	was, err := f.Stat()
	if err != nil {
		return false
	}
	is, err := os.Stat(path)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist) // that it cannot be looked at says nothing
	}
	return os.SameFile(was, is)
}

// release gives the lock back.
func (l *lock) release() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var errs []error
	for _, f := range []*os.File{l.file, l.folder} {
		if f != nil {
			errs = append(errs, unlock(f))
		}
	}
	l.file, l.folder = nil, nil
	return errors.Join(errs...)
}

// unlock unlocks a file and closes it. Closing it alone does not while another goroutine is
// starting a program: until that is executed it holds a copy of the open file.
func unlock(f *os.File) error {
	return errors.Join(syscall.Flock(int(f.Fd()), syscall.LOCK_UN), f.Close())
}

func write(f *os.File, text string) error {
	_, err := f.WriteAt([]byte(text), 0)
	return err
}
