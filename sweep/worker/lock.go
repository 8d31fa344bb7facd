package worker

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// lockName is the lock file in a folder of outputs or state; whoever holds its lock uses the
// folder.
const lockName = ".lock"

// lockTimeout is how long Acquire waits for a lock: if one process of a worker's pair was killed,
// the other needs a moment to end what ran.
const lockTimeout = 3 * time.Second

// InUse is the error when another process holds a lock.
type InUse struct {
	// the holder's description of itself; may be empty
	Holder string
}

func (e *InUse) Error() string {
	if e.Holder == "" {
		return "in use by another process"
	}
	return "in use by " + e.Holder
}

// Lock is a lock on a file (flock(2)). The kernel releases it when the process ends, for whatever
// reason. It thus avoids process ids, which mean nothing on another host or after a container was
// restarted.
type Lock struct{ file *os.File }

// FolderLock returns the path of the lock of a worker's folder.
func FolderLock(folder string) string { return filepath.Join(folder, lockName) }

// NameLock returns the path of the lock for a worker's name at a broker, for this user on this
// machine.
func NameLock(name, broker string) string {
	folder := memoryFolder
	if _, err := os.Stat(folder); err != nil {
		folder = os.TempDir()
	}
	sum := sha256.Sum256([]byte(name + "\x00" + broker))
	return filepath.Join(folder,
		"mlframework-worker-"+strconv.Itoa(os.Getuid())+"-"+hex.EncodeToString(sum[:8])+".lock")
}

// Acquire locks a file, which it creates if needed, and writes the holder into it. It returns
// *InUse if another process still holds the lock after three seconds. Any other error means that
// ctx has ended, or that the file system does not support locks or is not writable.
func Acquire(ctx context.Context, path, holder string) (*Lock, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	for end := time.Now().Add(lockTimeout); ; {
		lock, err := lockFile(file, holder)
		if err == nil {
			return lock, nil
		}
		_, inUse := errors.AsType[*InUse](err)
		if inUse && ctx.Err() == nil && time.Now().Before(end) {
			wait(ctx, 50*time.Millisecond)
			continue
		}
		file.Close()
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, err
	}
}

// lockFile locks an open file without waiting, and writes the holder into it. It returns *InUse if
// another process holds the lock.
func lockFile(file *os.File, holder string) (*Lock, error) {
	err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return nil, &InUse{Holder: readHolder(file)}
	}
	if err == nil {
		err = errors.Join(file.Truncate(0), writeAt(file, holder+"\n", 0))
		if noSpace(err) {
			err = nil // it is held all the same, by somebody without a name
		}
	}
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", file.Name(), err)
	}
	return &Lock{file}, nil
}

// readHolder returns what the holder of a lock wrote into its file; without it the holder has no
// name.
func readHolder(file *os.File) string {
	said, _ := io.ReadAll(io.NewSectionReader(file, 0, 1000))
	return strings.TrimSpace(string(said))
}

// Holder returns the description that the current holder of a lock gave of itself; "" if the lock
// is free or the holder is unknown.
func Holder(path string) string {
	file, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return ""
	}
	defer file.Close()
	// A pipe, which any user can put into a folder of all users, could be read for ever.
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	// It is read first: the test of the lock takes it for a moment, and so keeps others from it.
	said := readHolder(file)
	if said == "" ||
		!errors.Is(unix.Flock(int(file.Fd()), unix.LOCK_SH|unix.LOCK_NB), unix.EWOULDBLOCK) {
		return ""
	}
	return said
}

// isNamed reports whether the file at the lock's path is still the one that is locked.
func (l *Lock) isNamed() bool {
	locked, err := l.file.Stat()
	if err != nil {
		return false
	}
	named, err := os.Lstat(l.file.Name())
	return err == nil && os.SameFile(locked, named)
}

// Path returns the path of the lock file.
func (l *Lock) Path() string { return l.file.Name() }

func writeAt(file *os.File, text string, at int64) error {
	_, err := file.WriteAt([]byte(text), at)
	return err
}

// Release releases the lock, even while a child process between fork and exec still has the file
// open.
func (l *Lock) Release() error {
	_ = l.file.Truncate(0) // so that Holder need not test the lock
	return errors.Join(unix.Flock(int(l.file.Fd()), unix.LOCK_UN), l.file.Close())
}
