package filesync

import (
	"bytes"
	"os"
)

// blockSize is that of blocks of which holes consist, in bytes.
const blockSize = 4096

var zeroBlock [blockSize]byte

// sparse writes behind an offset of a file that ends there, and leaves out blocks of zeros. Whoever
// has written everything sets the file's size.
type sparse struct {
	file   *os.File
	offset int64
}

func (s *sparse) Write(p []byte) (int, error) {
	begin := 0 // of what is not zeros
	for at := 0; at < len(p); {
		next := min(len(p), at+blockSize-int((s.offset+int64(at))%blockSize))
		if bytes.Equal(p[at:next], zeroBlock[:next-at]) {
			if err := s.put(p, begin, at); err != nil {
				return begin, err
			}
			begin = next
		}
		at = next
	}
	if err := s.put(p, begin, len(p)); err != nil {
		return begin, err
	}
	s.offset += int64(len(p))
	return len(p), nil
}

// put writes p[from:to] to its place.
func (s *sparse) put(p []byte, from, to int) error {
	if from == to {
		return nil
	}
	_, err := s.file.WriteAt(p[from:to], s.offset+int64(from))
	return err
}
