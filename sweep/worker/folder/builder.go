package folder

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"

	"golang.org/x/sys/unix"
)

// Modes of what is made: the owner's programs may write all of it.
const (
	folderMode     = 0o755
	fileMode       = 0o644
	executableMode = 0o755
)

const bufferSize = 256 << 10

// buffers are for copying small files.
var buffers = sync.Pool{New: func() any { return new([bufferSize]byte) }}

// builder makes the items of a plan.
type builder struct {
	plan     *Plan
	snapshot string // absolute
	clones   bool
}

// minItemsPerWorker is the minimum number of items that a goroutine creates.
const minItemsPerWorker = 64

// makeAll creates the items in the empty folder base, folders first, and returns them. It stops
// when ctx ends.
func (b *builder) makeAll(ctx context.Context, items []item, base string) ([]made, error) {
	all := make([]made, len(items))
	for i := range items {
		all[i] = made{Path: items[i].Path, Dir: items[i].method == methodDir}
		if all[i].Dir {
			if err := os.Mkdir(base+"/"+items[i].Path, folderMode); err != nil {
				return nil, err
			}
		}
	}
	workers := min(runtime.GOMAXPROCS(0), 4, 1+len(items)/minItemsPerWorker)
	errs := make([]error, workers)
	makeSome := func(w int) {
		for i := w; i < len(items) && errs[w] == nil; i += workers {
			if all[i].Dir {
				continue
			}
			if errs[w] = ctx.Err(); errs[w] == nil {
				all[i].ID, errs[w] = b.make(&items[i], base)
			}
		}
	}
	var others sync.WaitGroup
	for w := 1; w < workers; w++ {
		others.Go(func() { makeSome(w) })
	}
	makeSome(0)
	others.Wait()
	return all, errors.Join(errs...)
}

// make creates a file or link below base and returns its identity.
func (b *builder) make(it *item, base string) (identity, error) {
	to := base + "/" + it.Path
	target := it.Target
	switch it.method {
	case methodCopy:
		return b.copy(it, to)
	case methodLink:
		target = b.snapshot + "/" + it.Path
	}
	if err := os.Symlink(target, to); err != nil {
		return identity{}, err
	}
	return lstat(to)
}

// copy copies a file with its time and whether it can be executed. Many small files are copied: an
// os.File for each would cost as much as the copy.
func (b *builder) copy(it *item, path string) (id identity, err error) {
	from, err := openFile(b.snapshot+"/"+it.Path, unix.O_RDONLY, 0)
	if err != nil {
		return id, err
	}
	defer unix.Close(from)
	mode := uint32(fileMode)
	if it.Executable {
		mode = executableMode
	}
	to, err := openFile(path, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL, mode)
	if err != nil {
		return id, err
	}
	defer func() {
		if closed := unix.Close(to); err == nil && closed != nil && closed != unix.EINTR {
			err = &os.PathError{Op: "close", Path: path, Err: closed}
		}
		if err != nil {
			_ = os.Remove(path) // an incomplete file is of no use
		}
	}()
	if err := b.copyContent(to, from, it, path); err != nil {
		return id, err
	}
	at := unix.NsecToTimespec(it.ModTime.UnixNano())
	if err := retry(func() error {
		return unix.UtimesNanoAt(unix.AT_FDCWD, path, []unix.Timespec{at, at}, 0)
	}); err != nil {
		return id, &os.PathError{Op: "chtimes", Path: path, Err: err}
	}
	var s unix.Stat_t
	if err := retry(func() error { return unix.Fstat(to, &s) }); err != nil {
		return id, &os.PathError{Op: "fstat", Path: path, Err: err}
	}
	return identityOf(&s), nil
}

func openFile(path string, flags int, mode uint32) (fd int, err error) {
	err = retry(func() error { fd, err = unix.Open(path, flags|unix.O_CLOEXEC, mode); return err })
	if err != nil {
		return 0, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return fd, nil
}

// copyContent writes a content into an empty file.
func (b *builder) copyContent(to, from int, it *item, path string) error {
	if it.Size == 0 || b.clones && clone(to, from) == nil {
		return nil
	}
	buffer := buffers.Get().(*[bufferSize]byte)
	defer buffers.Put(buffer)
	var all int64
	for all < it.Size {
		var n int
		err := retry(func() (err error) { n, err = unix.Read(from, buffer[:]); return err })
		if err != nil {
			return &os.PathError{Op: "read", Path: b.snapshot + "/" + it.Path, Err: err}
		}
		if n == 0 {
			break
		}
		for rest := buffer[:n]; len(rest) > 0; {
			err := retry(func() (err error) { n, err = unix.Write(to, rest); return err })
			if err != nil {
				return &os.PathError{Op: "write", Path: path, Err: err}
			}
			rest, all = rest[n:], all+int64(n)
		}
	}
	if all != it.Size {
		return fmt.Errorf("%s of the project has %d bytes and not %d: its snapshot was changed",
			it.Path, all, it.Size)
	}
	return nil
}
