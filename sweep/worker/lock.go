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

// lockName is the file in a folder of outputs or state whose lock says that a living worker uses the folder.
const lockName = ".lock"

// yield is how long Acquire waits for a lock: when one of a worker's pair of processes was killed, the other needs a moment
// to end what ran.
const yield = 3 * time.Second

// InUse is the error of Acquire when a living process holds the lock.
type InUse struct {
	Holder string // what it said of itself; may be empty
}

func (e *InUse) Error() string {
	if e.Holder == "" {
		return "in use by another process"
	}
	return "in use by " + e.Holder
}

// Lock is a lock on a file (flock(2)). The kernel releases it when the process ends, however that happens; so it
// needs no process id to be trusted, which means nothing after a container was started again or on another host.
type Lock struct{ file *os.File }

// FolderLock is the path of the lock of a worker's folder.
func FolderLock(folder string) string { return filepath.Join(folder, lockName) }

// NameLock is the path of the lock for a worker's name at a broker, for this user on this machine.
func NameLock(name, broker string) string {
	folder := memoryFolder
	if _, err := os.Stat(folder); err != nil {
		folder = os.TempDir()
	}
	sum := sha256.Sum256([]byte(name + "\x00" + broker))
	return filepath.Join(folder, "mlframework-worker-"+strconv.Itoa(os.Getuid())+"-"+hex.EncodeToString(sum[:8])+".lock")
}

// Acquire takes the lock of a file, which it makes when there is none, and writes into it who holds it. It returns *InUse
// when another process still holds it after three seconds. Any other error means that ctx
// has ended, or that the file system has no locks or may not be written to.
func Acquire(ctx context.Context, path, holder string) (*Lock, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	for end := time.Now().Add(yield); ; {
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

// Holder is what the living holder of a lock says of itself; "" where nobody holds it, or that cannot be told.
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

// Path is the file.
func (l *Lock) Path() string { return l.file.Name() }

func writeAt(file *os.File, text string, at int64) error {
	_, err := file.WriteAt([]byte(text), at)
	return err
}

// Release gives the lock back, also while a process that is about to become a program still has the file open.
func (l *Lock) Release() error {
	return errors.Join(unix.Flock(int(l.file.Fd()), unix.LOCK_UN), l.file.Close())
}
