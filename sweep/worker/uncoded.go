package worker

import (
	"bytes"
	"slices"
)

const (
	escape = 0x1b
	// longestCode is the maximum length in bytes of a code that is skipped in a value.
	longestCode = 32
	// heldWithCodes is how many times the length of a value may be held back because of codes in
	// it: enough for a colour of its own for each letter.
	heldWithCodes = 32
)

// uncoded is a text without colour codes and other control sequences, ESC [ to a letter. One that
// is incomplete at the end is left out, too. It is empty if there are none.
type uncoded struct {
	text []byte
	// where codes stood: before each of these bytes of text, and how many bytes were left out up to
	// there
	before, skipped []int
}

// from takes the codes out of a text.
func (u *uncoded) from(text []byte) {
	u.text, u.before, u.skipped = u.text[:0], u.before[:0], u.skipped[:0]
	if bytes.IndexByte(text, escape) < 0 {
		return
	}
	skipped := 0
	for {
		i := bytes.IndexByte(text, escape)
		if i < 0 {
			break
		}
		n := codeLength(text[i:])
		if n == 0 { // of another kind
			u.text, text = append(u.text, text[:i+1]...), text[i+1:]
			continue
		}
		u.text, text, skipped = append(u.text, text[:i]...), text[i+n:], skipped+n
		u.before, u.skipped = append(u.before, len(u.text)), append(u.skipped, skipped)
	}
	if u.text = append(u.text, text...); skipped == 0 {
		u.text = u.text[:0]
	}
}

// position returns where a byte of the text stood before codes were taken out.
func (u *uncoded) position(at int) int {
	if i, _ := slices.BinarySearch(u.before, at+1); i > 0 {
		return at + u.skipped[i-1]
	}
	return at
}

// codeLength returns the length of the control sequence with which a text begins; 0 for none. The
// text may end before the sequence does.
func codeLength(text []byte) int {
	for n, b := range text {
		switch {
		case n == longestCode:
			return 0
		case n == 0 && b == escape, n == 1 && b == '[':
		case n > 1 && b >= 0x40 && b <= 0x7e:
			return n + 1
		case n < 2 || b < 0x20 || b > 0x3f:
			return 0
		}
	}
	return len(text)
}
