package docker

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Streams of which an engine sends pieces. Any before them is output: some engines begin one with
// their word for input, 0.
const (
	toError = 2
	toFault = 3 // the engine's own words on why the stream ends
)

// demultiplex copies the standard output of a stream in which an engine sends two, and the standard
// error to aside, as they come and until the stream ends. Each piece has a header of 8 bytes, the
// first of which names its stream and the last four its length, big-endian. Source: "Stream format"
// of
// https://docs.docker.com/reference/api/engine/version/v1.41/#tag/Container/operation/ContainerAttach
//
// Nothing is gathered, however long a piece is.
func demultiplex(out, aside io.Writer, src io.Reader) error {
	for {
		var header [8]byte
		if _, err := io.ReadFull(src, header[:]); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		length := int64(binary.BigEndian.Uint32(header[4:]))
		to := out
		switch {
		case header[0] > toFault || header[1]|header[2]|header[3] != 0:
			return errors.New(
				"what came is not a stream of output and error: the container has a " +
					"terminal")
		case header[0] == toFault:
			text, _ := io.ReadAll(io.LimitReader(src, min(length, 4<<10))) // what there is of it
			return errors.New(string(text))
		case header[0] == toError:
			to = aside
		}
		// Other methods of a writer are hidden: both may be one bytes.Buffer.
		n, err := io.CopyN(struct{ io.Writer }{to}, src, length)
		if errors.Is(err, io.EOF) {
			err = fmt.Errorf("%d of %d bytes came: %w", n, length, io.ErrUnexpectedEOF)
		}
		if err != nil {
			return err
		}
	}
}
