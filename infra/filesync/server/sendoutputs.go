package server

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"hash"
	"io"
	"io/fs"
	"net/http"
	"os"
	"syscall"

	"mlframework/infra/agent"
	"mlframework/infra/filesync"
	"mlframework/internal/rootfile"
)

// sendOutputs answers with the contents of outputs, in the order in which they are asked for.
func sendOutputs(w http.ResponseWriter, r *http.Request) error {
	var q filesync.FilesRequest
	if err := agent.ReadBody(r, maxBody, &q); err != nil {
		return err
	}
	s, err := openSweep(q.Outputs)
	if err != nil {
		return err
	}
	defer s.close()
	to := bufio.NewWriterSize(w, bufferSize)
	send := &sender{ctx: r.Context(), to: to, sweep: s.Root}
	for _, f := range q.Files {
		if err := send.output(f); err != nil {
			return nil // whoever asked is gone
		}
	}
	_ = to.Flush()
	return nil
}

// A sender sends outputs one after the other.
type sender struct {
	ctx   context.Context
	to    *bufio.Writer
	sweep *os.Root
	piece [64 << 10]byte
}

// output sends as much of a file as was there when it was listed: of one that has grown, not what
// was added. Its error is that whoever asked is gone.
func (s *sender) output(w filesync.Wanted) error {
	f, err := openOutput(s.sweep, string(w.Path), w.Size)
	switch {
	case isUnreadable(err):
		why := unreadable(err)
		_ = s.says(filesync.Unreadable)
		_ = s.number(int64(len(why)))
		_, err = s.to.WriteString(why)
		return err
	case err != nil:
		return s.says(filesync.Gone)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || info.Size() > w.Size && inode(f, "", info) != w.Inode {
		return s.says(filesync.Replaced)
	}
	verdict, sum := filesync.Whole, sha256.New()
	if w.Offset > 0 {
		same := w.Offset <= w.Size
		if same {
			if !s.sum(sum, f, w.Offset) {
				return errors.Join(s.says(filesync.Gone), s.ctx.Err())
			}
			same = bytes.Equal(sum.Sum(nil), w.Sum)
		}
		switch {
		case same:
			verdict = filesync.Rest
		case w.Compare:
			return s.says(filesync.Differs)
		default:
			sum.Reset()
			w.Offset = 0
		}
	}
	_ = s.says(verdict) // the last write has its error
	whole := s.pieces(f, sum, w)
	end := sum.Sum(nil)
	if !whole {
		clear(end)
	}
	_ = s.number(0)
	_, err = s.to.Write(end)
	return errors.Join(err, s.ctx.Err())
}

func (s *sender) says(v filesync.Verdict) error { return s.to.WriteByte(byte(v)) }

// number writes what a piece begins with.
func (s *sender) number(n int64) error {
	_, err := s.to.Write(binary.AppendVarint(s.to.AvailableBuffer(), n))
	return err
}

// pieces sends a file from the offset on, and adds it to a sum. It reports whether that is all that
// is wanted, and as it is wanted.
func (s *sender) pieces(f *os.File, sum hash.Hash, w filesync.Wanted) bool {
	for at := w.Offset; at < w.Size; {
		begin, end := nextData(f, at, w.Size)
		if hole := begin - at; hole > 0 {
			if s.number(-hole) != nil || !s.hole(sum, hole) {
				return false
			}
		}
		for at = begin; at < end; {
			n, err := f.ReadAt(s.piece[:min(int64(len(s.piece)), end-at)], at)
			if w.Data -= int64(n); n == 0 || w.Data < 0 {
				return false // it became shorter, cannot be read, or has holes filled
			}
			_ = s.number(int64(n))
			_, gone := s.to.Write(s.piece[:n])
			if gone != nil || s.ctx.Err() != nil || err != nil && !errors.Is(err, io.EOF) {
				return false
			}
			sum.Write(s.piece[:n])
			at += int64(n)
		}
	}
	now, err := f.Stat() // of a shorter one, all behind its end looks like a hole
	return err == nil && now.Size() >= w.Size
}

// sum adds the first n bytes of a file to a sum, and reports whether there are so many.
func (s *sender) sum(sum hash.Hash, f *os.File, n int64) bool {
	for at := int64(0); at < n; {
		begin, end := nextData(f, at, n)
		if !s.hole(sum, begin-at) {
			return false
		}
		_, err := io.CopyN(sum, reading{s.ctx, io.NewSectionReader(f, begin, end-begin)}, end-begin)
		if err != nil {
			return false
		}
		at = end
	}
	now, err := f.Stat()
	return err == nil && now.Size() >= n
}

// hole adds zeros to a sum until whoever asked is gone.
func (s *sender) hole(sum hash.Hash, n int64) bool {
	clear(s.piece[:])
	for ; n > 0 && s.ctx.Err() == nil; n -= min(n, int64(len(s.piece))) {
		sum.Write(s.piece[:min(n, int64(len(s.piece)))])
	}
	return s.ctx.Err() == nil
}

// reading is what is read until a context ends.
type reading struct {
	ctx context.Context
	io.Reader
}

func (r reading) Read(to []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(to)
}

// isUnreadable reports whether a file could not be opened although it is there.
func isUnreadable(err error) bool {
	_, system := errors.AsType[syscall.Errno](err)
	return system && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) &&
		!errors.Is(err, syscall.ELOOP)
}

// openOutput opens a file that is still one, and no shorter than it was.
func openOutput(sweep *os.Root, name string, size int64) (*os.File, error) {
	f, err := rootfile.Open(sweep, name, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && info.Size() < size {
		err = errors.New("it is shorter now")
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
