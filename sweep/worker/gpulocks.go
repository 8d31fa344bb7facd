package worker

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"mlframework/nvdocker"
)

const (
	// gpuLockVariable is the variable that names the folder of the locks of GPUs. Attempts with
	// GPUs have it empty: a run that one of them begins may use what its worker has locked.
	gpuLockVariable = "MLFRAMEWORK_GPU_LOCKS"
	// maxHolder is the length in bytes of the longest description of a holder that is shown: any
	// user may have written it.
	maxHolder = 160
)

// GPULockFolder returns the folder of the locks of GPUs that workers with an environment use, for
// Options: the one that all users of this machine can write to, unless MLFRAMEWORK_GPU_LOCKS names
// another. If that is empty the result is, too: no GPU is locked.
func GPULockFolder(environ []string) string {
	if folder, set := lookupVariable(environ, gpuLockVariable); set {
		return folder
	}
	return memoryFolder
}

// gpuLocks are the locks of the GPUs that attempts of this worker use: one file each, in a folder
// that all users can write to. They keep a GPU from other workers while its memory does not
// tell yet that it is in use. Only holders may be called concurrently.
type gpuLocks struct {
	folder  string // "": nothing is locked
	holder  string // written into the files
	ignored bool   // what others have locked is used, too
	held    map[string]*Lock
	fault   error // the first reason why a GPU could not be locked
	told    bool  // it was logged
}

// lockMaking is how long the process that makes a lock file may take to let other users open it.
const lockMaking = 10 * time.Millisecond

// acquire locks devices, in the order of their UUIDs so that of two workers that want the same ones
// one gets all of them. If another process has one it locks none, and returns which and who has it.
// What cannot be locked is used without a lock.
func (l *gpuLocks) acquire(uuids []string) (uuid string, inUse *InUse) {
	if l.folder == "" {
		return "", nil
	}
	for n, uuid := range uuids {
		lock, err := lockShared(l.path(uuid), l.holder)
		if l.fault == nil && errors.Is(err, fs.ErrPermission) { // another user may be making it
			time.Sleep(lockMaking)
			lock, err = lockShared(l.path(uuid), l.holder)
		}
		if err == nil {
			l.held[uuid] = lock
			continue
		}
		inUse, is := errors.AsType[*InUse](err)
		switch {
		case is && l.ignored:
			continue
		case is:
			for _, before := range uuids[:n] {
				l.releaseOne(before)
			}
			return uuid, inUse
		}
		if l.fault == nil {
			l.fault = err
		}
	}
	return "", nil
}

// release releases the locks of devices that are free now.
func (l *gpuLocks) release(free func(uuid string) bool) {
	for uuid := range l.held {
		if free(uuid) {
			l.releaseOne(uuid)
		}
	}
}

func (l *gpuLocks) releaseOne(uuid string) {
	if lock := l.held[uuid]; lock != nil {
		_ = lock.Release() // closing the file releases it in any case
		delete(l.held, uuid)
	}
}

// renew locks again what is locked by files that are no longer there: where a user has logged out,
// systemd removes the user's files from /dev/shm (RemoveIPC).
func (l *gpuLocks) renew() {
	for uuid, lock := range l.held {
		if lock.isNamed() {
			continue
		}
		if again, err := lockShared(l.path(uuid), l.holder); err == nil {
			_ = lock.Release()
			l.held[uuid] = again
		}
	}
}

// holders returns who has the locks of the devices of a report, by UUID, this worker included.
func (l *gpuLocks) holders(r nvdocker.Report) map[string]string {
	all := map[string]string{}
	if l.folder == "" || l.ignored {
		return all
	}
	for _, d := range nvdocker.Devices(r.GPUs) {
		holder := Holder(l.path(d.UUID))
		text := strings.ToValidUTF8(holder[:min(len(holder), maxHolder)], "")
		if holder != "" && text == "" {
			text = "another program"
		}
		all[d.UUID] = text
	}
	return all
}

// path returns the path of a device's lock file. UUIDs are what a program printed; old drivers' of
// instances contain slashes.
func (l *gpuLocks) path(uuid string) string {
	name := strings.Map(func(r rune) rune {
		if r == '-' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return '_'
	}, uuid[:min(len(uuid), 128)])
	return filepath.Join(l.folder, "mlframework-gpu-"+name+".lock")
}

// lockShared locks a file that all users can lock, without waiting, and makes it if needed. The
// error is *InUse if another process holds the lock.
func lockShared(path, holder string) (*Lock, error) {
	for again := true; ; again = false {
		file, err := openShared(path)
		if err != nil {
			return nil, err
		}
		lock, err := lockFile(file, holder)
		if err != nil {
			file.Close()
			return nil, err
		}
		if again && !lock.isNamed() {
			_ = lock.Release() // it was removed in between
			continue
		}
		return lock, nil
	}
}

// openShared opens a lock file in a folder that all users can write to. The system may refuse
// O_CREAT there for a file of somebody else (fs.protected_regular), so that it is tried only where
// there is none.
func openShared(path string) (*os.File, error) {
	const flags = os.O_RDWR | unix.O_NOFOLLOW | unix.O_NONBLOCK
	file, err := os.OpenFile(path, flags, 0)
	if errors.Is(err, fs.ErrNotExist) {
		if file, err = os.OpenFile(path, flags|os.O_CREATE|os.O_EXCL, 0o666); err == nil {
			_ = file.Chmod(0o666) // whatever the umask is; else others go without the lock
		} else if errors.Is(err, fs.ErrExist) {
			file, err = os.OpenFile(path, flags, 0)
		}
	}
	if err != nil {
		return nil, err
	}
	var s unix.Stat_t
	// a second name of a file would have the holder written into what somebody else chose
	if err := unix.Fstat(int(file.Fd()), &s); err != nil || s.Mode&unix.S_IFMT != unix.S_IFREG ||
		s.Nlink > 1 {
		file.Close()
		return nil, errors.Join(err, fmt.Errorf("%s is not a lock file", path))
	}
	return file, nil
}

// newGPULockFault returns why GPUs cannot be locked; nil if they can, or it was told before.
func (s *scheduler) newGPULockFault() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gpuLocks.told {
		return nil
	}
	s.gpuLocks.told = s.gpuLocks.fault != nil
	return s.gpuLocks.fault
}

// noteGPULockFault logs once that GPUs cannot be locked.
func (w *Worker) noteGPULockFault() {
	if err := w.scheduler.newGPULockFault(); err != nil {
		w.o.Log.Warn("GPUs cannot be locked: other runs on this machine may use the same, until "+
			"their memory is in use", "error", err)
	}
}
