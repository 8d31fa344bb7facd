package filesync

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"net/http"
	"os"
	"syscall"
)

// contents asks for the jobs' files in one request, and takes them as they come, in that order.
func (f *fetch) contents(ctx context.Context) error {
	if len(f.jobs) == 0 {
		return nil
	}
	q := FilesRequest{Outputs: f.of, Files: make([]Wanted, len(f.jobs))}
	for i, j := range f.jobs {
		q.Files[i] = Wanted{[]byte(j.entry.Path), j.entry.Size, j.entry.Data, j.offset, j.sum,
			j.compare, j.entry.Inode}
	}
	answer, err := f.client.ask(ctx, http.MethodPost, "/outputs/files", q)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	from := bufio.NewReaderSize(answer.Body, bufferSize)
	for _, j := range f.jobs {
		if err := f.receive(ctx, j, from); err != nil {
			return err
		}
	}
	return nil
}

// receive takes what the host says of a file.
func (f *fetch) receive(ctx context.Context, j job, from *bufio.Reader) error {
	letter, err := from.ReadByte()
	if err != nil {
		return err
	}
	switch v := Verdict(letter); {
	case v == Gone:
		f.skip(j.entry.Path, "it went away, or was cut short, after the fetch began: fetch again")
	case v == Replaced:
		f.skip(j.entry.Path, changedMeanwhile)
	case v == Unreadable:
		why, err := readText(from)
		if err != nil {
			return err
		}
		f.skip(j.entry.Path, why)
	case v == Differs:
		f.conflict(j.entry.Path)
	case v == Rest && j.compare:
		return f.same(ctx, j, from)
	case v == Rest:
		return f.content(ctx, j, from)
	case v == Whole:
		f.progress.OfBytes -= j.rest()
		j.offset = 0
		f.progress.OfBytes += j.rest()
		return f.content(ctx, j, from)
	default:
		return fmt.Errorf("the host says %q of %q", letter, j.entry.Path)
	}
	return nil
}

// readText reads a text with its length in front.
func readText(from *bufio.Reader) (string, error) {
	n, err := binary.ReadVarint(from)
	if err != nil {
		return "", err
	}
	if n < 0 || n > MaxName {
		return "", fmt.Errorf("the host says a text of %d bytes", n)
	}
	text := make([]byte, n)
	_, err = io.ReadFull(from, text)
	return string(text), err
}

// changedMeanwhile is why a file is left out that is no longer what was listed.
const changedMeanwhile = "it changed while it was copied: fetch again"

// errChanged says that a file became shorter while it was sent, or had holes filled.
var errChanged = errors.New("the file has changed")

// takePieces writes the rest of a job's content, whose holes are zeros, and returns the host's sum
// of the whole file. Arrived is told of the bytes that came.
func (j job) takePieces(
	ctx context.Context, to io.Writer, from *bufio.Reader, arrived func(int64),
) (sum []byte, err error) {
	left, data := j.entry.Size-j.offset, j.rest()
	for {
		n, err := binary.ReadVarint(from)
		if err != nil {
			return nil, err
		}
		if n == 0 {
			break
		}
		source := io.Reader(from)
		if n < 0 {
			n, source = -n, zeros{ctx}
		} else {
			data -= n
		}
		if left -= n; n < 0 || left < 0 || data < 0 {
			return nil, errors.New("the host sends more than the file has")
		}
		copied, err := io.CopyN(to, source, n)
		if source == from {
			arrived(copied)
		}
		if err != nil {
			return nil, err
		}
	}
	sum = make([]byte, sha256.Size)
	if _, err := io.ReadFull(from, sum); err != nil {
		return nil, err
	}
	if left > 0 || bytes.Equal(sum, make([]byte, sha256.Size)) {
		return nil, errChanged
	}
	return sum, nil
}

// zeros are read until a context ends.
type zeros struct{ ctx context.Context }

func (z zeros) Read(to []byte) (int, error) {
	clear(to)
	return len(to), z.ctx.Err()
}

// content writes a file beside its place, and moves it there once it has the host's sum.
func (f *fetch) content(ctx context.Context, j job, from *bufio.Reader) error {
	name := f.to.part(j.entry.Path)
	out, busy, err := f.openPart(ctx, j, name)
	if err != nil {
		return err
	}
	sum, to := sha256.New(), io.Writer(io.Discard)
	if out != nil {
		defer out.Close()
		to = &sparse{out, j.offset}
		if err := reread(out, sum, j.offset); err != nil {
			return err
		}
	}
	came := int64(0)
	theirs, err := j.takePieces(ctx, io.MultiWriter(to, sum), from, func(n int64) {
		came += n
		f.arrived(n)
	})
	switch {
	case errors.Is(err, errChanged):
		f.skip(j.entry.Path, changedMeanwhile)
		return nil
	case err != nil:
		return err
	case busy:
		f.skip(j.entry.Path, "another fetch is copying it")
		return nil
	case !bytes.Equal(theirs, sum.Sum(nil)):
		return errors.Join(fmt.Errorf("%q did not arrive as it was sent: fetch again",
			j.entry.Path),
			f.to.Remove(name))
	}
	f.progress.OfBytes -= j.rest() - came // what was in holes
	return f.place(j, out, name)
}

// isOld reports whether a file is what lay at the file's place when the fetch began.
func (j job) isOld(now fs.FileInfo) bool {
	return j.old != nil && os.SameFile(now, j.old) && now.Size() == j.old.Size() &&
		now.ModTime().Equal(j.old.ModTime())
}

// arrived reports so many bytes that came.
func (f *fetch) arrived(n int64) {
	f.done.Bytes += n
	f.progress.Bytes += n
	f.report()
}

// same takes the end of a file that is here already, by another hand and with the same content: it
// stays as it is.
func (f *fetch) same(ctx context.Context, j job, from *bufio.Reader) error {
	sum, err := j.takePieces(ctx, io.Discard, from, f.arrived)
	switch {
	case err != nil && !errors.Is(err, errChanged):
		return err
	case !bytes.Equal(sum, j.sum):
		f.conflict(j.entry.Path)
		return nil
	}
	f.done.Had++
	return f.to.noteFile(j.entry.Entry)
}

// openPart opens the file that the content goes to, with the bytes that are there already. busy,
// without a file: another fetch has it.
func (f *fetch) openPart(
	ctx context.Context, j job, name string,
) (out *os.File, busy bool, err error) {
	out, err = f.to.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, false, err
	}
	err = syscall.Flock(int(out.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	busy = errors.Is(err, syscall.EWOULDBLOCK)
	if now, err := f.to.Lstat(name); !busy {
		opened, err2 := out.Stat()
		busy = err != nil || err2 != nil || !os.SameFile(now, opened) ||
			j.from == name && j.offset > 0 && opened.Size() != j.offset
	}
	if busy {
		out.Close()
		return nil, true, nil
	}
	keep := j.offset
	if keep > 0 && j.from != name {
		keep = 0
	}
	if err = out.Truncate(keep); err == nil && keep < j.offset {
		err = f.copyOld(ctx, j, out)
	}
	if err != nil {
		out.Close()
		return nil, false, err
	}
	return out, false, nil
}

// copyOld begins a part with what an earlier fetch has brought.
func (f *fetch) copyOld(ctx context.Context, j job, out *os.File) error {
	old, err := f.to.Open(j.from)
	if err != nil {
		return err
	}
	defer old.Close()
	err = copyStart(&sparse{out, 0}, old, j.offset)
	return errors.Join(err, out.Truncate(j.offset), ctx.Err())
}

// copyStart copies the first n bytes of a file of the destination. Its end before that is no end of
// the connection.
func copyStart(to io.Writer, file *os.File, n int64) error {
	_, err := io.CopyN(to, file, n)
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("%s was cut short during the fetch: fetch again", file.Name())
	}
	return err
}

// reread adds the first n bytes of a file to a sum, and stands behind them.
func reread(file *os.File, sum hash.Hash, n int64) error {
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return copyStart(sum, file, n)
}

// place moves a whole file to its place, where nothing else may have come meanwhile.
func (f *fetch) place(j job, out *os.File, name string) error {
	if err := out.Truncate(j.entry.Size); err != nil { // with the hole at its end
		return err
	}
	if err := out.Chmod(j.entry.Mode&0o777 | 0o600); err != nil {
		return err
	}
	if err := f.to.Chtimes(name, j.entry.ModTime, j.entry.ModTime); err != nil {
		return err
	}
	now, err := f.to.Lstat(j.entry.Path)
	if err == nil && !j.isOld(now) {
		f.conflict(j.entry.Path)
		return nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := f.to.Rename(name, j.entry.Path); err != nil {
		return err
	}
	f.done.Files++
	f.progress.Files++
	f.report()
	return f.to.noteFile(j.entry.Entry)
}
