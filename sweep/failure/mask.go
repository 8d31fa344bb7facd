package failure

import (
	"strings"
	"unicode/utf8"
)

// Masked stands in a reason for what differs between failures that are alike.
const Masked = "…"

// mostAlike is how much of a masked reason counts, in characters. A reason that was cut is longer,
// whatever its numbers are.
const mostAlike = 120

// Alike is a reason with numbers, paths, addresses, UUIDs and names that a program made up masked:
// failures that are alike have the same. An exit code stays.
func Alike(reason string) string {
	var m masker
	m.read(reason)
	return string(m.text)
}

// masker masks reasons, one after the other.
type masker struct {
	text  []byte // with parts masked
	slots []slot // those parts
	end   int    // of what was looked at in the reason
}

// slot is a part of a reason that is masked.
type slot struct{ from, to, out int } // in the reason; where it begins in the text

func (m *masker) read(reason string) {
	m.text, m.slots, m.end = m.text[:0], m.slots[:0], len(reason)
	at := 0
	if code, ok := strings.CutPrefix(reason, "exit code "); ok {
		at = len(reason) - len(strings.TrimLeft(code, "0123456789"))
		m.text = append(m.text, reason[:at]...)
	}
	for at < len(reason) {
		end := at
		for end < len(reason) && inChunk(reason[end]) {
			end++
		}
		if end == at {
			m.text = append(m.text, reason[at])
			at++
			continue
		}
		if strings.Contains(reason[at:end], "://") {
			if n := strings.IndexAny(reason[at:], " '\"<>()"); n < 0 {
				end = len(reason)
			} else {
				end = at + n
			}
		}
		chunk := strings.TrimRight(reason[at:end], ".:")
		m.chunk(chunk, at)
		m.text = append(m.text, reason[at+len(chunk):end]...)
		at = end
	}
	m.shorten()
}

// shorten leaves at most mostAlike characters.
func (m *masker) shorten() {
	if len(m.text) <= mostAlike {
		return
	}
	n := 0
	for i := range string(m.text) {
		if n++; n <= mostAlike {
			continue
		}
		m.text = m.text[:i]
		for len(m.slots) > 0 && m.slots[len(m.slots)-1].out >= i {
			m.slots = m.slots[:len(m.slots)-1]
		}
		m.end = i
		if last := len(m.slots) - 1; last >= 0 {
			m.end = m.slots[last].to + i - m.slots[last].out - len(Masked)
		}
		return
	}
}

// inChunk reports whether a byte can be part of a path, a number or a name.
func inChunk(c byte) bool {
	return isWord(c) || c >= utf8.RuneSelf || strings.IndexByte("./\\-+~:@%", c) >= 0
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isWord(c byte) bool { return isDigit(c) || c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' }

// mask masks a part of the reason. What is joined to something masked by one sign is one with it:
// 1.5, 12:30, the parts of a UUID.
func (m *masker) mask(from, to int) {
	n := len(m.text)
	if m.masked(n) {
		m.slots[len(m.slots)-1].to = to
		return
	}
	if n > 0 && strings.IndexByte(".:-+%", m.text[n-1]) >= 0 {
		if m.masked(n - 1) {
			m.text, m.slots[len(m.slots)-1].to = m.text[:n-1], to
			return
		}
		// a sign
		if c := m.text[n-1]; (c == '-' || c == '+') &&
			(n == 1 || !isWord(m.text[n-2]) && m.text[n-2] < utf8.RuneSelf) {
			m.text, from = m.text[:n-1], from-1
		}
	}
	m.slots = append(m.slots, slot{from, to, len(m.text)})
	m.text = append(m.text, Masked...)
}

// masked reports whether a masked part ends at a place in the text.
func (m *masker) masked(at int) bool {
	last := len(m.slots) - 1
	return last >= 0 && m.slots[last].out+len(Masked) == at
}

// chunk takes text without blanks and brackets, which stands somewhere in the reason.
func (m *masker) chunk(text string, place int) {
	if isPath(text) {
		m.mask(place, place+len(text))
		return
	}
	for at := 0; at < len(text); {
		end := at
		for end < len(text) && isWord(text[end]) {
			end++
		}
		if end == at {
			m.text = append(m.text, text[at])
			at++
			continue
		}
		if exponent := exponentEnd(text[at:]); exponent > end-at {
			end = at + exponent
		}
		m.word(text[at:end], place+at)
		at = end
	}
}

// word takes letters and digits.
func (m *masker) word(text string, place int) {
	unit, end := strings.TrimLeft(text, "0123456789"), place+len(text)
	blank := len(m.text) > 0 && m.text[len(m.text)-1] == ' '
	switch {
	case isUnit(text) && m.masked(len(m.text)):
		m.mask(place, end)
	case isUnit(text) && blank && m.masked(len(m.text)-1):
		m.text = m.text[:len(m.text)-1]
		m.mask(place, end)
	case len(unit) == len(text): // it begins with a letter
		if madeUp(text) {
			m.mask(place, end)
		} else {
			m.text = append(m.text, text...)
		}
	case unit == "" || isUnit(unit) || strings.ContainsAny(unit, "0123456789-+") || madeUp(text):
		m.mask(place, end)
	default: // 10s
		m.mask(place, end-len(unit))
		m.text = append(m.text, unit...)
	}
}

// exponentEnd is the length of a number such as 1e-05; 0: it is none.
func exponentEnd(text string) int {
	rest := strings.TrimLeft(text, "0123456789")
	if len(rest) == len(text) || len(rest) < 3 || rest[0]|0x20 != 'e' || rest[1] != '-' &&
		rest[1] != '+' {
		return 0
	}
	end := strings.TrimLeft(rest[2:], "0123456789")
	if len(end) == len(rest)-2 {
		return 0
	}
	return len(text) - len(end)
}

// isUnit reports whether a word counts bytes.
func isUnit(word string) bool {
	switch word {
	case "B", "kB", "KB", "MB", "GB", "TB", "KiB", "MiB", "GiB", "TiB", "bytes":
		return true
	}
	return false
}

// isPath reports whether text is a path, or a URL.
func isPath(text string) bool {
	if at := strings.IndexAny(text, "/\\"); at < 0 || len(text) < 3 {
		return false
	}
	for _, begin := range []string{"/", "./", "../", "~/"} {
		if strings.HasPrefix(text, begin) {
			return true
		}
	}
	last := text[strings.LastIndexAny(text, "/\\")+1:]
	return strings.Contains(text, "://") || strings.Contains(text, `:\`) ||
		strings.Count(text, "/") > 1 || strings.LastIndexByte(last, '.') > 0
}

// madeUp reports whether a word looks as if a program made it up: a hash, or a temporary name such
// as tmpab1cd2ef.
func madeUp(word string) bool {
	if len(word) == len("tmp")+8 && strings.HasPrefix(word, "tmp") {
		return true
	}
	digits, inner, hex := 0, 0, true // inner: digits that a letter follows
	for i := range len(word) {
		c := word[i]
		hex = hex && (isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'f')
		if isDigit(c) {
			if digits++; i+1 < len(word) && !isDigit(word[i+1]) && word[i+1] != '_' {
				inner++
			}
		}
	}
	return digits > 0 && hex && len(word) >= 8 || inner > 0 && digits > 1 && len(word) >= 6
}
