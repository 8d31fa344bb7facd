package metric

import (
	"bytes"
)

// appendPlain appends line to out without terminal codes: ESC [ ... letter, ESC ] ... BEL or ESC \,
// ESC and one more.
func appendPlain(out, line []byte) []byte {
	for len(line) > 0 {
		i := bytes.IndexByte(line, escape[0])
		if i < 0 {
			return append(out, line...)
		}
		out = append(out, line[:i]...)
		line = line[i+codeLength(line[i:]):]
	}
	return out
}

// codeLength returns how long the terminal code is that b, beginning with ESC, begins with.
func codeLength(b []byte) int {
	if len(b) < 2 {
		return len(b)
	}
	switch b[1] {
	case '[':
		for i, c := range b[2:] {
			if c >= 0x40 && c <= 0x7e {
				return i + 3
			}
			if c < 0x20 || c > 0x7e {
				return i + 2 // broken off: what follows is text
			}
		}
		return len(b)
	case ']':
		for i, c := range b {
			if c == 0x07 {
				return i + 1
			}
			if i > 0 && c == 0x1b {
				return min(i+2, len(b))
			}
		}
		return len(b)
	default:
		return 2
	}
}
