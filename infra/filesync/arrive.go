package filesync

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// receive takes the host's answer to a job.
func (f *fetch) receive(ctx context.Context, j job) error {
	v, err := f.verdict(j)
	if err != nil {
		return err
	}
	switch v {
	case gone:
		f.skip(j.entry.Path, "it went away, or was cut short, after the fetch began: fetch again")
	case differs:
		f.conflict(j.entry.Path)
	case whole:
		f.progress.OfBytes += j.want.offset
		j.want.offset = 0
		return f.content(ctx, j)
	case rest:
		if j.want.compare {
			return f.same(j)
		}
		return f.content(ctx, j)
	default:
		return fmt.Errorf("the host says %q of %q", v, j.entry.Path)
	}
	return nil
}

func (f *fetch) verdict(j job) (verdict, error) {
	head, err := f.client.read()
	if err != nil {
		return 0, err
	}
	if head.kind != contentFrame {
		return 0, unexpected(head)
	}
	d := &decoder{rest: head.payload}
	index := d.number(uint64(len(f.offered)))
	v := verdict(d.letter())
	if d.err == nil && index != uint64(j.want.index) {
		d.fail(errors.New("the host sends another file than is next"))
	}
	return v, d.err
}

// content writes a file beside its place, and moves it there once it has the host's sum.
func (f *fetch) content(ctx context.Context, j job) error {
	name := f.to.part(j.entry.Path)
	out, busy, err := f.openPart(ctx, j, name)
	if err != nil {
		return err
	}
	sum, to := sha256.New(), io.Writer(io.Discard)
	if out != nil {
		defer out.Close()
		to = out
		if err := reread(out, sum, j.want.offset); err != nil {
			return err
		}
	}
	from := &arrival{next: f.client.read, left: j.entry.Size - j.want.offset}
	_, err = io.Copy(io.MultiWriter(to, sum), &counted{from, f})
	if errors.Is(err, errCutShort) {
		f.skip(j.entry.Path, "it was cut short while it was copied: fetch again")
		return nil
	}
	if err != nil {
		return err
	}
	end, err := f.client.read()
	if err != nil {
		return err
	}
	if end.kind != sumFrame {
		return unexpected(end)
	}
	if busy {
		f.skip(j.entry.Path, "another fetch is copying it")
		return nil
	}
	if !bytes.Equal(end.payload, sum.Sum(nil)) {
		return errors.Join(fmt.Errorf("%q did not arrive as it was sent: fetch again", j.entry.Path), f.to.Remove(name))
	}
	return f.place(j, out, name)
}

// same takes the end of a file that is here already, by another hand and with the same content: it stays as it is.
func (f *fetch) same(j job) error {
	end, err := f.client.read()
	switch {
	case err != nil:
		return err
	case end.kind != sumFrame:
		return unexpected(end)
	case !bytes.Equal(end.payload, j.want.sum[:]):
		f.conflict(j.entry.Path)
		return nil
	}
	f.done.Had++
	return f.to.noteFile(j.entry)
}

// openPart opens the file that the content goes to, with the bytes that are there already. busy, without a file: another fetch
// has it.
func (f *fetch) openPart(ctx context.Context, j job, name string) (out *os.File, busy bool, err error) {
	out, err = f.to.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, false, err
	}
	err = syscall.Flock(int(out.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	busy = errors.Is(err, syscall.EWOULDBLOCK)
	if now, err := f.to.Lstat(name); !busy {
		opened, err2 := out.Stat()
		busy = err != nil || err2 != nil || !os.SameFile(now, opened) || j.from == name && j.want.offset > 0 && opened.Size() != j.want.offset
	}
	if busy {
		out.Close()
		return nil, true, nil
	}
	keep := j.want.offset
	if keep > 0 && j.from != name {
		keep = 0
	}
	if err = out.Truncate(keep); err == nil && keep < j.want.offset {
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
	_, err = io.CopyN(out, old, j.want.offset)
	return errors.Join(err, ctx.Err())
}

// reread adds the first n bytes of a file to a sum, and stands behind them.
func reread(file *os.File, sum hash.Hash, n int64) error {
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	_, err := io.CopyN(sum, file, n)
	return err
}

// place moves a whole file to its place, where nothing else may have come meanwhile.
func (f *fetch) place(j job, out *os.File, name string) error {
	if err := out.Chmod(j.entry.Mode&0o777 | 0o600); err != nil {
		return err
	}
	if err := f.to.Chtimes(name, j.entry.ModTime, j.entry.ModTime); err != nil {
		return err
	}
	now, err := f.to.Lstat(j.entry.Path)
	if came := err == nil && (j.old == nil || !os.SameFile(now, j.old) || now.Size() != j.old.Size() || !now.ModTime().Equal(j.old.ModTime())); came {
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
	return f.to.noteFile(j.entry)
}

// counted reports what arrives.
type counted struct {
	from io.Reader
	f    *fetch
}

func (c *counted) Read(to []byte) (int, error) {
	n, err := c.from.Read(to)
	c.f.done.Bytes += int64(n)
	c.f.progress.Bytes += int64(n)
	if n > 0 {
		c.f.report()
	}
	return n, err
}
