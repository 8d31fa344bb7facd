package filesync

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
	"math"
	"os"
	"syscall"

	"mlframework/projects"
)

// A want asks for an offered file: index is its place in the offer. The first offset bytes are there already, where sum is their
// SHA-256. compare: if they are something else, nothing is to be sent.
type want struct {
	index   int
	compare bool
	offset  int64
	sum     [sha256.Size]byte
}

func appendWant(to []byte, w want) []byte {
	to = binary.AppendUvarint(to, uint64(w.index))
	if w.compare {
		to = append(to, 1)
	} else {
		to = append(to, 0)
	}
	to = binary.AppendUvarint(to, uint64(w.offset))
	if w.offset > 0 {
		to = append(to, w.sum[:]...)
	}
	return to
}

// want reads one of n offered files.
func (d *decoder) want(n int) (w want) {
	if n == 0 {
		d.fail(errors.New("nothing was offered"))
		return w
	}
	w.index = int(d.number(uint64(n - 1)))
	w.compare = d.letter() == 1
	w.offset = int64(d.number(math.MaxInt64))
	if w.offset == 0 {
		return w
	}
	if copy(w.sum[:], d.rest) < len(w.sum) {
		d.fail(errTorn)
		return w
	}
	d.rest = d.rest[len(w.sum):]
	return w
}

// wants reads what the client asks for out of n offered files.
func (s *server) wants(ctx context.Context, n int) (all []want, err error) {
	// A client hashes what it has before it asks, which may take long, and holds no lock meanwhile.
	err = readList(func() (frame, error) { return s.next(ctx) }, func(d *decoder) {
		if all = append(all, d.want(n)); len(all) > n {
			d.fail(fmt.Errorf("more is wanted than the %d files that were offered", n))
		}
	})
	return all, err
}

// A verdict begins the answer to a want.
type verdict byte

const (
	whole   verdict = 'w' // all bytes follow, then their sum
	rest    verdict = 'r' // the bytes from the offset on follow, then the sum of all
	differs verdict = 'd' // what the client has is something else; nothing follows
	gone    verdict = 'g' // it is not there any more, or is shorter; nothing follows
)

// maxVerdict is the longest payload of a content frame.
const maxVerdict = binary.MaxVarintLen64 + 1

// send answers a want: with as much of the file as was there when it was offered.
func (s *server) send(ctx context.Context, sweep *os.Root, e projects.Entry, w want) error {
	f, err := openOutput(sweep, e)
	if err != nil {
		return s.verdict(w, gone)
	}
	defer f.Close()
	v, sum := whole, sha256.New()
	if w.offset > 0 {
		same, err := prefixed(ctx, f, sum, w, e.Size)
		switch {
		case err != nil && ctx.Err() != nil:
			return err
		case err != nil:
			return s.verdict(w, gone)
		case same:
			v = rest
		case w.compare:
			return s.verdict(w, differs)
		default:
			sum.Reset()
			if _, err := f.Seek(0, io.SeekStart); err != nil {
				return s.verdict(w, gone)
			}
			w.offset = 0
		}
	}
	if err := s.verdict(w, v); err != nil {
		return err
	}
	return s.sendRest(ctx, f, sum, e.Size-w.offset)
}

func (s *server) verdict(w want, v verdict) error {
	return s.wire.write(contentFrame, append(binary.AppendUvarint(make([]byte, 0, maxVerdict), uint64(w.index)), byte(v)))
}

// sendRest sends what is left, then the sum of everything; an empty sum says that the file became shorter or unreadable.
func (s *server) sendRest(ctx context.Context, f io.Reader, sum hash.Hash, left int64) error {
	from := &readFault{from: io.TeeReader(f, sum)}
	err := s.wire.writeContent(from, left, func(int) error { return ctx.Err() })
	switch {
	case err == nil:
		return s.wire.write(sumFrame, sum.Sum(nil))
	case from.err != nil:
		return s.wire.write(sumFrame, nil)
	}
	return err
}

// A readFault remembers that the reading failed, and not what is done with what was read.
type readFault struct {
	from io.Reader
	err  error
}

func (r *readFault) Read(to []byte) (n int, err error) {
	n, err = r.from.Read(to)
	if err != nil {
		r.err = err
	}
	return n, err
}

// openOutput opens an offered file that is still one, and as long as it was.
func openOutput(sweep *os.Root, e projects.Entry) (*os.File, error) {
	f, err := sweep.OpenFile(e.Path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && (e.Kind != projects.File || !info.Mode().IsRegular() || info.Size() < e.Size) {
		err = errors.New("it is another file now")
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// prefixed says whether a file begins with what the client has. It leaves the file after that, and sum with it.
func prefixed(ctx context.Context, f io.Reader, sum hash.Hash, w want, size int64) (bool, error) {
	if w.offset > size {
		return false, nil
	}
	for left := w.offset; left > 0; {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		n, err := io.CopyN(sum, f, min(left, 16<<20))
		if err != nil {
			return false, err
		}
		left -= n
	}
	return bytes.Equal(sum.Sum(nil), w.sum[:]), nil
}
