package worker

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"mlframework/nvdocker"
)

const (
	// gpuLockVariable is the variable that names the folder of the locks of GPUs. Attempts with
	// GPUs have it empty: a run that one of them begins may use what its worker has locked.
	gpuLockVariable = "MLFRAMEWORK_GPU_LOCKS"
	// gpuLockFolder is that folder by default. All users have the same, whatever their TMPDIR is.
	gpuLockFolder = "/tmp/mlframework-gpus"
	// maxHolder is the length in bytes of the longest description of a holder that is shown: any
	// user may have written it.
	maxHolder = 160
)

// GPULockFolder returns the folder of the locks of GPUs that workers with an environment use, for
// Options: the one of all users of this machine, unless MLFRAMEWORK_GPU_LOCKS names another. If
// that is empty the result is, too: no GPU is locked.
func GPULockFolder(environ []string) string {
	if folder, set := lookupVariable(environ, gpuLockVariable); set {
		return folder
	}
	return gpuLockFolder
}

// gpuLocks are the locks of the GPUs that attempts of this worker use: one file each, in a folder
// that workers of all users share. They keep a GPU from other workers while its memory does not
// tell yet that it is in use. Only holders may be called concurrently.
type gpuLocks struct {
	folder string // "": nothing is locked
	holder string // written into the files
	held   map[string]*Lock
	fault  error // the first reason why a GPU could not be locked
	told   bool  // it was logged
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
		lock, err := lockShared(l.folder, gpuLockName(uuid), l.holder)
		if l.fault == nil && errors.Is(err, fs.ErrPermission) { // another user may be making it
			time.Sleep(lockMaking)
			lock, err = lockShared(l.folder, gpuLockName(uuid), l.holder)
		}
		if err == nil {
			l.held[uuid] = lock
			continue
		}
		if inUse, is := errors.AsType[*InUse](err); is {
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

// holders returns who has the locks of the devices of a report, by UUID, this worker included: a
// file that is read each day is not removed from /tmp as an old one.
func (l *gpuLocks) holders(r nvdocker.Report) map[string]string {
	all := map[string]string{}
	if l.folder == "" {
		return all
	}
	for _, d := range nvdocker.Devices(r.GPUs) {
		holder := Holder(l.folder + "/" + gpuLockName(d.UUID))
		text := strings.ToValidUTF8(holder[:min(len(holder), maxHolder)], "")
		if holder != "" && text == "" {
			text = "another program"
		}
		all[d.UUID] = text
	}
	return all
}

// gpuLockName returns the name of the lock file of a device. UUIDs are what a program printed; old
// drivers' of instances contain slashes.
func gpuLockName(uuid string) string {
	return strings.Map(func(r rune) rune {
		if r == '-' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return '_'
	}, uuid[:min(len(uuid), 128)]) + ".lock"
}

// lockShared locks a file in a folder that all users can write to, without waiting. It makes both
// if needed. The error is *InUse if another process holds the lock.
func lockShared(folder, name, holder string) (*Lock, error) {
	at, err := openSharedFolder(folder)
	if err != nil {
		return nil, err
	}
	defer unix.Close(at)
	for again := true; ; again = false {
		file, err := openSharedFile(at, folder, name)
		if err != nil {
			return nil, err
		}
		lock, err := lockFile(file, holder)
		if err != nil {
			file.Close()
			return nil, err
		}
		var opened, named unix.Stat_t
		if again && (unix.Fstat(int(file.Fd()), &opened) != nil || unix.Fstatat(at, name, &named,
			unix.AT_SYMLINK_NOFOLLOW) != nil || opened.Ino != named.Ino) {
			_ = lock.Release() // it was removed in between, as old files of /tmp are
			continue
		}
		return lock, nil
	}
}

// openSharedFolder opens a folder that all users can write to. What somebody else put in its place
// is not followed.
func openSharedFolder(path string) (fd int, err error) {
	const flags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW
	if fd, err = openFD(unix.AT_FDCWD, path, flags, 0); !errors.Is(err, fs.ErrNotExist) {
		return fd, err
	}
	switch err = os.Mkdir(path, 0o777); {
	case err == nil:
		err = os.Chmod(path, 0o777|os.ModeSticky) // whatever the umask is
	case errors.Is(err, fs.ErrExist):
		err = nil // another process has made it
	}
	if err != nil {
		return -1, err
	}
	return openFD(unix.AT_FDCWD, path, flags, 0)
}

// openSharedFile opens a lock file in an open folder that all users can write to. The system may
// refuse O_CREAT there for a file of somebody else (fs.protected_regular), so that it is tried only
// where there is none.
func openSharedFile(at int, folder, name string) (*os.File, error) {
	const flags = unix.O_RDWR | unix.O_NOFOLLOW | unix.O_NONBLOCK
	fd, err := openFD(at, name, flags, 0)
	if errors.Is(err, fs.ErrNotExist) {
		if fd, err = openFD(at, name, flags|unix.O_CREAT|unix.O_EXCL, 0o666); err == nil {
			_ = unix.Fchmod(fd, 0o666) // whatever the umask is; else others go without the lock
		} else if errors.Is(err, fs.ErrExist) {
			fd, err = openFD(at, name, flags, 0)
		}
	}
	path := folder + "/" + name
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, errors.Unwrap(err))
	}
	var s unix.Stat_t
	// a second name of a file would have the holder written into what somebody else chose
	if err := unix.Fstat(fd, &s); err != nil || s.Mode&unix.S_IFMT != unix.S_IFREG || s.Nlink > 1 {
		unix.Close(fd)
		return nil, errors.Join(err, fmt.Errorf("%s is not a lock file", path))
	}
	return os.NewFile(uintptr(fd), path), nil
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
