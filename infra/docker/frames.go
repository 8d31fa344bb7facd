package docker

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// frames reads the stream in which an engine sends two: each piece has a header of 8 bytes, the first of which names its
// stream and the last four its length, big-endian. Source: "Stream format" of
// https://docs.docker.com/reference/api/engine/version/v1.41/#tag/Container/operation/ContainerAttach
//
// Read gives the standard output; the standard error goes to aside as it comes by. Nothing is gathered, however long a piece
// is. After an error of src that may pass, such as a deadline, reading goes on where it was.
type frames struct {
	src   io.Reader
	aside io.Writer

	header [8]byte
	have   int   // of the header
	left   int64 // of the piece
	to     byte
}

// The streams. Standard input is never sent to a client, but some engines begin an output with it.
const (
	toInput = iota
	toOutput
	toError
	toFault // the engine's own words on why the stream ends
)

func (f *frames) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for {
		if f.left == 0 {
			if err := f.next(); err != nil {
				return 0, err
			}
			continue
		}
		if f.to == toError {
			if err := f.skim(); err != nil {
				return 0, err
			}
			continue
		}
		n, err := f.src.Read(p[:min(int64(len(p)), f.left)])
		f.left -= int64(n)
		if n > 0 {
			return n, nil // an error comes again
		}
		if err != nil {
			return 0, cut(err)
		}
	}
}

// pour writes the output to out until the stream ends. What out can do besides Write is hidden: it may be where the standard error
// goes, too, and a bytes.Buffer must not be written to while it reads.
func (f *frames) pour(out io.Writer) error {
	_, err := io.Copy(struct{ io.Writer }{out}, f)
	return err
}

// next reads a header. The stream may end before it, and nowhere else.
func (f *frames) next() error {
	n, err := io.ReadFull(f.src, f.header[f.have:])
	f.have += n
	switch {
	case err != nil && f.have == 0:
		return err
	case err != nil:
		return cut(err)
	}
	f.have = 0
	f.to, f.left = f.header[0], int64(binary.BigEndian.Uint32(f.header[4:]))
	switch {
	case f.to > toFault || f.header[1]|f.header[2]|f.header[3] != 0:
		return fmt.Errorf("what came is not a stream of output and error: the container has a terminal")
	case f.to == toFault:
		text, _ := io.ReadAll(io.LimitReader(f.src, min(f.left, 4<<10))) // what there is of it
		return errors.New(string(text))
	}
	return nil
}

// skim passes on some of a piece that is not for Read.
func (f *frames) skim() error {
	var buffer [4 << 10]byte
	n, err := f.src.Read(buffer[:min(int64(len(buffer)), f.left)])
	f.left -= int64(n)
	if n > 0 {
		_, err = f.aside.Write(buffer[:n])
		return err
	}
	return cut(err)
}

// cut is an end where none may be.
func cut(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// tail keeps the last bytes that were written to it.
type tail struct{ kept []byte }

// mostTail is enough for a message, and for what led to it.
const mostTail = 4 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.kept = append(t.kept, p...)
	if over := len(t.kept) - mostTail; over > 0 {
		t.kept = append(t.kept[:0], t.kept[over:]...)
	}
	return len(p), nil
}
