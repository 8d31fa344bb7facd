package server

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"net/http"
	"net/http/httputil"
	"os"

	"mlframework/infra/filesync"
	"mlframework/internal/rootfile"
)

// sendOutputs answers with the contents of outputs, in the order in which they are asked for.
func sendOutputs(w http.ResponseWriter, r *http.Request) error {
	var q filesync.FilesRequest
	if err := decode(r, &q); err != nil {
		return err
	}
	s, err := openSweep(q.Outputs)
	if err != nil {
		return err
	}
	defer s.close()
	defer s.Root.Close()
	to := bufio.NewWriterSize(w, bufferSize)
	for _, f := range q.Files {
		if err := sendOutput(r.Context(), to, s.Root, f); err != nil {
			return nil // whoever asked is gone
		}
	}
	_ = to.Flush()
	return nil
}

// sendOutput sends as much of a file as was there when it was listed.
func sendOutput(
	ctx context.Context, to *bufio.Writer, sweep *os.Root, w filesync.Wanted,
) error {
	f, err := openOutput(sweep, string(w.Path), w.Size)
	if err != nil {
		return to.WriteByte(byte(filesync.Gone))
	}
	defer f.Close()
	verdict, sum := filesync.Whole, sha256.New()
	if w.Offset > 0 {
		same := w.Offset <= w.Size
		if same {
			if _, err := io.CopyN(sum, reading{ctx, f}, w.Offset); err != nil {
				return errors.Join(to.WriteByte(byte(filesync.Gone)), ctx.Err())
			}
			same = bytes.Equal(sum.Sum(nil), w.Sum)
		}
		switch {
		case same:
			verdict = filesync.Rest
		case w.Compare:
			return to.WriteByte(byte(filesync.Differs))
		default:
			sum.Reset()
			w.Offset = 0
			if _, err := f.Seek(0, io.SeekStart); err != nil {
				return to.WriteByte(byte(filesync.Gone))
			}
		}
	}
	_ = to.WriteByte(byte(verdict)) // the last write has its error
	chunks := httputil.NewChunkedWriter(to)
	left := w.Size - w.Offset
	n, _ := io.Copy(chunks, io.TeeReader(io.LimitReader(reading{ctx, f}, left), sum))
	_ = chunks.Close()
	end := sum.Sum(nil)
	if n < left { // it became shorter, or cannot be read
		clear(end)
	}
	_, err = to.Write(end)
	return errors.Join(err, ctx.Err())
}

// reading is a file that is read until a context ends.
type reading struct {
	ctx  context.Context
	file *os.File
}

func (r reading) Read(to []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.file.Read(to)
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
