package worker

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// ShortestSecret is the minimum length in bytes of values that are masked in output: masking
// shorter ones would hide too much that only looks like them.
const ShortestSecret = 8

// redacted replaces values of secrets in output. Values that overlap or touch are replaced once.
const redacted = "********"

// mask hides the values of secrets in a stream, every byte of each, also if a value is split
// between two writes or has colour codes in it. It holds back what may be the beginning of a value:
// at most one byte less than the longest value, or heldWithCodes times that with colour codes.
type mask struct {
	secrets []pattern
	// the end of the input, not yet emitted
	buffered []byte
	// bytes at the start of buffered that belong to a value that began earlier
	covered int
	// the last output was redacted
	redacting bool
	out       []byte
	uncoded   uncoded // buffered without colour codes
}

// newMask returns a mask for all forms of secrets; nil if there are none.
func newMask(secrets []string) *mask { return maskOf(formsOf(secrets)) }

// maskOf returns a mask for some texts.
func maskOf(texts []string) *mask {
	if len(texts) == 0 {
		return nil
	}
	m := &mask{}
	for _, s := range texts {
		m.secrets = append(m.secrets, newPattern([]byte(s)))
	}
	return m
}

// hide returns the output that is safe after p arrived. It is valid until the next call.
func (m *mask) hide(p []byte) []byte {
	m.buffered = append(m.buffered, p...)
	m.uncoded.from(m.buffered)
	return m.emit(len(m.buffered) - m.partialMatch())
}

// flush returns what was held back, at the end of the stream.
func (m *mask) flush() []byte {
	m.uncoded.from(m.buffered)
	return m.emit(len(m.buffered))
}

// hideText masks values in a complete text.
func (m *mask) hideText(text string) string {
	of := mask{secrets: m.secrets}
	return string(of.hide([]byte(text))) + string(of.flush())
}

// textMask returns a function that masks values in complete texts; nil if there are no secrets.
func textMask(secrets []string) func(string) string {
	if m := newMask(secrets); m != nil {
		return m.hideText
	}
	return nil
}

// formsOf returns the forms in which programs print secrets: the whole value, single lines of it,
// without surrounding spaces, and escaped as in JSON or by Python's repr.
func formsOf(secrets []string) (forms []string) {
	for _, secret := range secrets {
		for _, text := range append(strings.Split(secret, "\n"), secret) {
			escaped, _ := json.Marshal(text)
			plain := &bytes.Buffer{}
			e := json.NewEncoder(plain)
			e.SetEscapeHTML(false)
			_ = e.Encode(text)
			forms = append(forms, text, strings.TrimSpace(text))
			for _, quoted := range []string{string(escaped), strings.TrimSpace(plain.String()),
				strconv.QuoteToASCII(text)} {
				quoted = quoted[1 : len(quoted)-1]
				forms = append(forms, quoted, strings.ReplaceAll(quoted, `\"`, `"`))
			}
		}
	}
	slices.Sort(forms)
	return slices.DeleteFunc(slices.Compact(forms),
		func(form string) bool { return len(form) < ShortestSecret })
}

// emit returns the first n buffered bytes, with values masked.
func (m *mask) emit(n int) []byte {
	m.out = m.out[:0]
	at, until := 0, m.covered // shown up to at; hidden up to until
	for _, v := range append(m.values(n), span{n, n}) {
		if at < min(until, n) {
			m.redact()
			at = min(until, n)
		}
		if at < v.from {
			m.out = append(m.out, m.buffered[at:v.from]...)
			m.redacting, at = false, v.from
		}
		until = max(until, v.to)
	}
	m.covered = until - n
	m.buffered = append(m.buffered[:0], m.buffered[n:]...)
	return m.out
}

func (m *mask) redact() {
	if !m.redacting {
		m.out = append(m.out, redacted...)
		m.redacting = true
	}
}

// span is the bytes [from, to) of what is buffered.
type span struct{ from, to int }

// values returns the values that begin in the first n buffered bytes, in order.
func (m *mask) values(n int) (found []span) {
	for _, s := range m.secrets {
		s.each(m.buffered, n, func(from, to int) { found = append(found, span{from, to}) })
	}
	for _, s := range m.secrets {
		s.each(m.uncoded.text, len(m.uncoded.text), func(from, to int) {
			if from = m.uncoded.position(from); from < n {
				found = append(found, span{from, m.uncoded.position(to-1) + 1})
			}
		})
	}
	slices.SortFunc(found, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	return found
}

// partialMatch returns how many bytes at the end of buffered may be the beginning of a value.
func (m *mask) partialMatch() (longest int) {
	for _, s := range m.secrets {
		longest = max(longest, s.atEnd(m.buffered))
		if state := s.atEnd(m.uncoded.text); state > 0 {
			held := len(m.buffered) - m.uncoded.position(len(m.uncoded.text)-state)
			if held < heldWithCodes*len(s.text) {
				longest = max(longest, held)
			}
		}
	}
	return longest
}

// pattern finds a text in linear time, even if the text repeats itself, with the algorithm of
// Knuth, Morris and Pratt.
type pattern struct {
	text []byte
	// by length of a prefix: the length of its longest proper prefix that is also its suffix
	border []int32
}

func newPattern(text []byte) pattern {
	p := pattern{text, make([]int32, len(text)+1)}
	for n, state := 1, 0; n < len(text); n++ {
		state = p.next(state, text[n])
		p.border[n+1] = int32(state)
	}
	return p
}

// next returns how much of the text is matched after byte b, given how much was matched before.
// After a complete match it continues with the part that may begin the next one.
func (p *pattern) next(state int, b byte) int {
	if state == len(p.text) {
		state = int(p.border[state])
	}
	for state > 0 && p.text[state] != b {
		state = int(p.border[state])
	}
	if p.text[state] == b {
		state++
	}
	return state
}

// each calls found for all matches that begin in the first n bytes of a text.
func (p *pattern) each(in []byte, n int, found func(from, to int)) {
	for at := 0; at < n; {
		i := bytes.Index(in[at:], p.text)
		if i < 0 {
			return
		}
		at = p.matches(in, at+i, func(from int) {
			if from < n {
				found(from, from+len(p.text))
			}
		})
	}
}

// atEnd returns how much of the text a text may end with, without all of it.
func (p *pattern) atEnd(in []byte) (state int) {
	for _, b := range in[max(0, len(in)-len(p.text)+1):] {
		state = p.next(state, b)
	}
	return state
}

// matches calls found for the match at position at and for each further match that overlaps it or
// may. It returns the position at which to continue the search.
func (p *pattern) matches(in []byte, at int, found func(from int)) int {
	found(at)
	state := len(p.text)
	for end := at + len(p.text); end < len(in); end++ {
		if state = p.next(state, in[end]); state == 0 {
			return end + 1
		}
		if state == len(p.text) {
			found(end + 1 - state)
		}
	}
	return len(in)
}
