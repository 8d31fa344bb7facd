package failure

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// mostRunes is how long the line of a reason is.
const mostRunes = 200

// Cut is a text of at most 200 characters; where it was longer it ends with "…".
func Cut(text string) string { return cutTo(text, mostRunes) }

// cutTo is a text of at most so many characters.
func cutTo(text string, most int) string {
	if len(text) <= most {
		return text
	}
	runes := 0
	last := 0 // where the last character that has room begins
	for i := range text {
		if runes == most-1 {
			last = i
		}
		if runes++; runes > most {
			return text[:last] + "…"
		}
	}
	return text
}

// Clean returns a line of output as text without escape sequences, control characters and what hides
// or turns text.
func Clean(line []byte) string { return clean(line) }

// clean is a line without escape sequences, control characters and what hides or turns text. A tab
// is a space. Bytes that are not UTF-8 are read as Latin-1.
func clean(line []byte) string {
	plain := true
	for _, c := range line {
		if c < ' ' || c > '~' {
			plain = false
			break
		}
	}
	if plain {
		return strings.TrimRight(string(line), " ")
	}
	var b strings.Builder
	for at := 0; at < len(line); {
		if n := escape(line[at:]); n > 0 {
			at += n
			continue
		}
		r, n := utf8.DecodeRune(line[at:])
		if r == utf8.RuneError && n == 1 {
			if at += n; !utf8.FullRune(line[at-1:]) { // cut off with its line
				break
			}
			if r = rune(line[at-1]); r < 0xa0 { // of Latin-1 a control character
				r = utf8.RuneError
			}
			b.WriteRune(r)
			continue
		}
		at += n
		switch {
		case r == '\t':
			b.WriteByte(' ')
		case unicode.IsPrint(r):
			b.WriteRune(r)
		}
	}
	return strings.TrimRight(b.String(), " ")
}

// escape is the length of the escape sequence (ECMA-48) that a text begins with; 0: it begins with
// none.
func escape(p []byte) int {
	if p[0] != 0x1b {
		return 0
	}
	if len(p) == 1 {
		return 1
	}
	switch p[1] {
	case '[': // up to a final byte
		for i := 2; i < len(p); i++ {
			if p[i] >= 0x40 && p[i] <= 0x7e {
				return i + 1
			}
			if p[i] < 0x20 {
				return i
			}
		}
		return len(p)
	case ']', 'P', 'X', '^', '_': // a text, up to BEL or ESC \
		for i := 2; i < len(p); i++ {
			switch {
			case p[i] == 0x07:
				return i + 1
			case p[i] == 0x1b:
				return min(i+2, len(p))
			}
		}
		return len(p)
	case '(', ')', '*', '+', '#', '%', ' ':
		return min(3, len(p))
	}
	return 2
}
