package folder

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
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

// make makes an item below base and returns its identity. The identity of a folder has to be read
// once it is complete.
func (b *builder) make(i int, base string) (identity, error) {
	it := &b.plan.items[i]
	to := base + "/" + it.Path
	var err error
	switch it.method {
	case methodDir:
		return identity{}, os.Mkdir(to, folderMode)
	case methodCopy:
		return b.copy(it, to)
	case methodLink:
		err = os.Symlink(b.snapshot+"/"+it.Path, to)
	default:
		err = os.Symlink(it.Target, to)
	}
	if err != nil {
		return identity{}, err
	}
	return lstat(to)
}

// target returns the target of an item that is a link.
func (b *builder) target(it *item) string {
	if it.method == methodLink {
		return b.snapshot + "/" + it.Path
	}
	return it.Target
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

// minItemsPerWorker is the minimum number of items that a goroutine makes.
const minItemsPerWorker = 64

// makeAll makes items below base, those of folders first, and stores their identities in ids. It
// stops when ctx ends.
func (b *builder) makeAll(ctx context.Context, items []int, base string, ids []identity) error {
	var leaves []int
	for _, i := range items {
		if b.plan.items[i].method != methodDir {
			leaves = append(leaves, i)
		} else if _, err := b.make(i, base); err != nil {
			return err
		}
	}
	workers := min(runtime.GOMAXPROCS(0), 4, 1+len(leaves)/minItemsPerWorker)
	errs := make([]error, workers)
	var all sync.WaitGroup
	for w := range workers {
		all.Go(func() {
			for n := w; n < len(leaves) && errs[w] == nil; n += workers {
				if errs[w] = ctx.Err(); errs[w] == nil {
					ids[leaves[n]], errs[w] = b.make(leaves[n], base)
				}
			}
		})
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// matches reports whether what lies at a path is the item: its content, or where it leads.
func (b *builder) matches(it *item, path string) bool {
	if it.method != methodCopy {
		target, err := os.Readlink(path)
		return err == nil && target == b.target(it)
	}
	return sameContent(b.snapshot+"/"+it.Path, path)
}

// sameContent compares two files.
func sameContent(a, b string) bool {
	f, err1 := os.Open(a)
	g, err2 := openRegular(b)
	if err1 == nil {
		defer f.Close()
	}
	if err2 == nil {
		defer g.Close()
	}
	if err1 != nil || err2 != nil {
		return false
	}
	x, y := buffers.Get().(*[bufferSize]byte), buffers.Get().(*[bufferSize]byte)
	defer buffers.Put(x)
	defer buffers.Put(y)
	for {
		n, err1 := io.ReadFull(f, x[:])
		k, err2 := io.ReadFull(g, y[:])
		if n != k || string(x[:n]) != string(y[:k]) {
			return false
		}
		if err1 != nil || err2 != nil {
			return isEOF(err1) && isEOF(err2)
		}
	}
}

func isEOF(err error) bool { return err == io.EOF || err == io.ErrUnexpectedEOF }

// openRegular opens a file that a program may have put there: no link is followed, and no pipe
// waited for.
func openRegular(path string) (*os.File, error) {
	return os.OpenFile(filepath.Clean(path), os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
}
