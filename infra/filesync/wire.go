package filesync

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
)

// A kind says what a frame holds.
type kind byte

const (
	helloFrame   kind = 'H' // JSON of an Identity: the client's first word
	requestFrame kind = 'Q' // JSON of a request
	listFrame    kind = 'L' // a piece of a list; an empty one ends the list
	contentFrame kind = 'C' // begins the answer to a want: its index, and a verdict
	dataFrame    kind = 'D' // a piece of the content
	sumFrame     kind = 'S' // ends it: the SHA-256 of all that the file has
	answerFrame  kind = 'A' // JSON of an answer: the request is done
	refusalFrame kind = 'F' // JSON of a Refusal: the request has failed
)

// maxFrame bounds a frame, in bytes; pieceSize is how much of lists and contents goes into one.
const (
	maxFrame  = 1 << 20
	pieceSize = 256 << 10
)

// A frame is one message. A data frame's payload is borrowed: release it.
type frame struct {
	kind    kind
	payload []byte
}

// pieces are the payloads of data frames.
var pieces = sync.Pool{New: func() any { b := make([]byte, pieceSize); return &b }}

// release gives the payload of a data frame back.
func (f frame) release() {
	if f.kind == dataFrame && cap(f.payload) == pieceSize {
		b := f.payload[:pieceSize]
		pieces.Put(&b)
	}
}

// A wire sends and receives frames. One goroutine may send while another receives.
type wire struct {
	r *bufio.Reader
	w *bufio.Writer
}

func newWire(rw io.ReadWriter) *wire {
	return &wire{bufio.NewReaderSize(rw, pieceSize), bufio.NewWriterSize(rw, pieceSize)}
}

// read receives a frame. io.EOF: the other end is gone, between two frames.
func (w *wire) read() (frame, error) {
	var head [5]byte
	if _, err := io.ReadFull(w.r, head[:]); err != nil {
		return frame{}, err
	}
	f := frame{kind: kind(head[0])}
	n := binary.BigEndian.Uint32(head[1:])
	switch {
	case n > maxFrame:
		return frame{}, fmt.Errorf("a message of %d bytes: more than %d are not allowed", n, maxFrame)
	case f.kind == dataFrame && n <= pieceSize:
		f.payload = (*pieces.Get().(*[]byte))[:n]
	default:
		f.payload = make([]byte, n)
	}
	_, err := io.ReadFull(w.r, f.payload)
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return f, err
}

// write sends a frame with the next flush, or before.
func (w *wire) write(k kind, payload []byte) error {
	if len(payload) > maxFrame {
		return fmt.Errorf("a message of %d bytes: more than %d are not allowed", len(payload), maxFrame)
	}
	var head [5]byte
	head[0] = byte(k)
	binary.BigEndian.PutUint32(head[1:], uint32(len(payload)))
	if _, err := w.w.Write(head[:]); err != nil {
		return err
	}
	_, err := w.w.Write(payload)
	return err
}

func (w *wire) flush() error { return w.w.Flush() }

// writeJSON sends a value.
func (w *wire) writeJSON(k kind, value any) error {
	data, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return w.write(k, data)
}

// writeList sends a list of encoded items in as many frames as it takes.
func (w *wire) writeList(n int, item func(to []byte, i int) []byte) error {
	piece := make([]byte, 0, pieceSize)
	for i := range n {
		if piece = item(piece, i); len(piece) >= pieceSize/2 || i == n-1 {
			if err := w.write(listFrame, piece); err != nil {
				return err
			}
			piece = piece[:0]
		}
	}
	return w.write(listFrame, nil)
}

// writeContent sends size bytes in frames.
func (w *wire) writeContent(from io.Reader, size int64, sent func(n int) error) error {
	b := pieces.Get().(*[]byte)
	defer pieces.Put(b)
	for size > 0 {
		n, err := io.ReadFull(from, (*b)[:min(size, pieceSize)])
		if err != nil {
			return err
		}
		if err := w.write(dataFrame, (*b)[:n]); err != nil {
			return err
		}
		if err := sent(n); err != nil {
			return err
		}
		size -= int64(n)
	}
	return nil
}

// decode reads a frame's JSON.
func (f frame) decode(into any) error {
	if err := json.Unmarshal(f.payload, into); err != nil {
		return fmt.Errorf("a message of kind %q that cannot be read: %w", f.kind, err)
	}
	return nil
}

// unexpected is the error of a frame that has no place where it came.
func unexpected(f frame) error { return fmt.Errorf("a message of kind %q has no place here", f.kind) }
