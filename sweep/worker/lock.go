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

// InUse is the error of Acquire when another process holds the lock.
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
		err = unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EWOULDBLOCK) || ctx.Err() != nil || !time.Now().Before(end) {
			break
		}
		wait(ctx, 50*time.Millisecond)
	}
	if err == nil {
		err = errors.Join(file.Truncate(0), writeAt(file, holder+"\n", 0))
		if noSpace(err) {
			err = nil // it is held all the same, by somebody without a name
		}
	}
	if err == nil {
		return &Lock{file}, nil
	}
	defer file.Close()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if !errors.Is(err, unix.EWOULDBLOCK) {
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	said, _ := io.ReadAll(io.LimitReader(file, 1000)) // without it the holder has no name
	return nil, &InUse{Holder: strings.TrimSpace(string(said))}
}

// Holder returns the description that the current holder of a lock gave of itself; "" if the lock
// is free or the holder is unknown.
func Holder(path string) string {
	file, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return ""
	}
	defer file.Close()
	if !errors.Is(unix.Flock(int(file.Fd()), unix.LOCK_SH|unix.LOCK_NB), unix.EWOULDBLOCK) {
		return ""
	}
	said, _ := io.ReadAll(io.LimitReader(file, 1000))
	return strings.TrimSpace(string(said))
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
	return errors.Join(unix.Flock(int(l.file.Fd()), unix.LOCK_UN), l.file.Close())
}
