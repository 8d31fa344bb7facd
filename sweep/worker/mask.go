package worker

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"
)

// ShortestSecret is the length in bytes from which on a secret's value is looked for in output: anything shorter would
// also hide what only looks like it.
const ShortestSecret = 8

// hidden stands in output where values of secrets stood; where values overlap or touch, it stands once.
const hidden = "********"

// mask hides the values of secrets in a stream, every byte of each, also where a value is cut between two writes. It
// holds back what may be the beginning of a value: at most one byte less than the longest.
type mask struct {
	secrets []pattern
	held    []byte // end of what came, not yet shown
	covered int    // bytes at the start of held that belong to a value which began before
	within  bool   // what was shown last is hidden
	out     []byte
}

// newMask makes a mask; without secrets it is nil.
func newMask(secrets []string) *mask {
	if len(secrets) == 0 {
		return nil
	}
	m := &mask{}
	for _, s := range secrets {
		m.secrets = append(m.secrets, newPattern([]byte(s)))
	}
	return m
}

// hide returns what may be shown after p arrived. It is valid until the next call.
func (m *mask) hide(p []byte) []byte {
	m.held = append(m.held, p...)
	return m.show(len(m.held) - m.begun())
}

// rest returns what was held back, at the end of the stream.
func (m *mask) rest() []byte { return m.show(len(m.held)) }

// whole hides values in a text of its own.
func (m *mask) whole(text string) string {
	of := mask{secrets: m.secrets}
	return string(of.hide([]byte(text))) + string(of.rest())
}

// hiding returns a function that hides values in texts from files, where they may stand in other
// forms than in output: a line of a value, without the spaces around it, or as JSON has it. Without
// secrets it is nil.
func hiding(secrets []string) func(string) string {
	var forms []string
	for _, secret := range secrets {
		for _, text := range append(strings.Split(secret, "\n"), secret) {
			escaped, _ := json.Marshal(text)
			plain := &bytes.Buffer{}
			e := json.NewEncoder(plain)
			e.SetEscapeHTML(false)
			_ = e.Encode(text)
			forms = append(forms, text, strings.TrimSpace(text), strings.Trim(string(escaped), `"`),
				strings.Trim(strings.TrimSpace(plain.String()), `"`))
		}
	}
	slices.Sort(forms)
	forms = slices.DeleteFunc(slices.Compact(forms),
		func(form string) bool { return len(form) < ShortestSecret })
	if len(forms) == 0 {
		return nil
	}
	return newMask(forms).whole
}

// show lets the first n bytes of what is held go, with values hidden.
func (m *mask) show(n int) []byte {
	m.out = m.out[:0]
	at, until := 0, m.covered // shown up to at; hidden up to until
	for _, v := range append(m.values(n), span{n, n}) {
		if at < min(until, n) {
			m.cover()
			at = min(until, n)
		}
		if at < v.from {
			m.out = append(m.out, m.held[at:v.from]...)
			m.within, at = false, v.from
		}
		until = max(until, v.to)
	}
	m.covered = until - n
	m.held = append(m.held[:0], m.held[n:]...)
	return m.out
}

func (m *mask) cover() {
	if !m.within {
		m.out = append(m.out, hidden...)
		m.within = true
	}
}

// span is the bytes [from, to) of what is held.
type span struct{ from, to int }

// values finds the values that begin in the first n bytes of what is held, in their order.
func (m *mask) values(n int) (found []span) {
	for _, s := range m.secrets {
		for at := 0; at < n; {
			i := bytes.Index(m.held[at:], s.text)
			if i < 0 {
				break
			}
			at = s.run(m.held, at+i, func(from int) {
				if from < n {
					found = append(found, span{from, from + len(s.text)})
				}
			})
		}
	}
	slices.SortFunc(found, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	return found
}

// begun is how many bytes at the end of what is held could be the beginning of a value.
func (m *mask) begun() (longest int) {
	for _, s := range m.secrets {
		state := 0
		for _, b := range m.held[max(0, len(m.held)-len(s.text)+1):] {
			state = s.next(state, b)
		}
		longest = max(longest, state)
	}
	return longest
}

// pattern is a text that is found in a time that grows with what is searched, also where the text repeats itself: with
// the table of Knuth, Morris and Pratt.
type pattern struct {
	text   []byte
	border []int32 // by length of a beginning: of its longest shorter beginning that it ends with
}

func newPattern(text []byte) pattern {
	p := pattern{text, make([]int32, len(text)+1)}
	for n, state := 1, 0; n < len(text); n++ {
		state = p.next(state, text[n])
		p.border[n+1] = int32(state)
	}
	return p
}

// next is how much of the text stands at the end, when it was state before another byte came. The whole text is followed by what of
// it may be the beginning of the next.
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

// run calls found with each place where the text begins, from the one at which it does, as long as they overlap or may. It returns from
// where on to search.
func (p *pattern) run(in []byte, at int, found func(from int)) int {
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
