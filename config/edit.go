package config

import (
	"slices"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// editor changes the lines of options, and no others. Line numbers are those of the text as it was, from 0; what becomes
// of each is kept apart, so that edits do not move each other.
type editor struct {
	mark   string // a byte order mark, which the parser does not count as a character
	lines  []line
	root   *yaml.Node
	indent string // of the keys at the top
	end    string // of lines that are added
	last   int    // last line of the last option, after which new ones go; -1 puts them at the end
	added  []string
}

// line is one line and what becomes of it.
type line struct {
	text  string   // without its end
	end   string   // "\n", "\r\n", or "" at the end of the text
	gone  bool     // it is left out
	above []string // lines put before it, and behind it
	below []string
}

func newEditor(data []byte, root *yaml.Node) *editor {
	text, mark := string(data), "\ufeff"
	if !strings.HasPrefix(text, mark) {
		mark = ""
	}
	e := &editor{mark: mark, lines: splitLines(text[len(mark):]), root: root, end: "\n", last: -1}
	if len(e.lines) > 0 && e.lines[0].end != "" {
		e.end = e.lines[0].end
	}
	if root == nil {
		return e
	}
	for i := 0; i+1 < len(root.Content); i += 2 {
		name := keyText(root.Content[i])
		if i == 0 {
			e.indent = strings.Repeat(" ", root.Content[i].Column-1)
		}
		if slices.ContainsFunc(table, func(o option) bool { return o.name == name }) {
			_, e.last = e.region(i)
		}
	}
	return e
}

// splitLines knows the line breaks that the parser counts (YAML 1.1, 5.4).
func splitLines(text string) (lines []line) {
	for text != "" {
		i := strings.IndexAny(text, "\n\r\u0085\u2028\u2029")
		if i < 0 {
			return append(lines, line{text: text})
		}
		_, n := utf8.DecodeRuneInString(text[i:])
		if strings.HasPrefix(text[i:], "\r\n") {
			n = 2
		}
		lines = append(lines, line{text: text[:i], end: text[i : i+n]})
		text = text[i+n:]
	}
	return lines
}

// text puts the lines together again.
func (e *editor) text() []byte {
	if e.last < 0 { // behind everything
		e.last = len(e.lines) - 1
	}
	if e.last < 0 {
		e.lines, e.last = []line{{gone: true}}, 0
	}
	e.lines[e.last].below = append(e.lines[e.last].below, e.added...)
	var b strings.Builder
	b.WriteString(e.mark)
	for _, l := range e.lines {
		for _, a := range l.above {
			b.WriteString(a + e.end)
		}
		if !l.gone {
			b.WriteString(l.text + l.end)
		}
		if !l.gone && l.end == "" && len(l.below) > 0 {
			b.WriteString(e.end)
		}
		for _, a := range l.below {
			b.WriteString(a + e.end)
		}
	}
	return []byte(b.String())
}

// set gives an option the words, or takes it out when there are none.
func (e *editor) set(o option, found bool, words []string) {
	if !found {
		e.added = append(e.added, e.indent+o.name+": "+written(o, words))
		return
	}
	i := e.find(o.name)
	first, last := e.region(i)
	v := e.root.Content[i+1]
	switch {
	case len(words) == 0:
		e.remove(first, last)
	case v.Kind == yaml.SequenceNode && v.Style&yaml.FlowStyle == 0:
		e.setItems(v, first, last, words)
	default:
		e.setValue(v, last, written(o, words))
	}
}

// find is where the key of that name stands, which is there.
func (e *editor) find(name string) int {
	i := 0
	for keyText(e.root.Content[i]) != name {
		i += 2
	}
	return i
}

// keyText is what a key says: it may be an alias.
func keyText(n *yaml.Node) string {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n.Value
}

// region is the first and last line of a key and its value, without blank lines and comments below.
func (e *editor) region(i int) (first, last int) {
	first = e.root.Content[i].Line - 1
	last = len(e.lines) - 1
	if i+2 < len(e.root.Content) {
		last = e.root.Content[i+2].Line - 2
	}
	for last > first && (blank(e.lines[last].text) || marker(e.lines[last].text)) {
		last--
	}
	return first, last
}

// blank is true for lines without content: empty ones and comments.
func blank(text string) bool {
	text = strings.TrimSpace(text)
	return text == "" || text[0] == '#'
}

// marker is true for what stands between documents.
func marker(text string) bool {
	return strings.HasPrefix(text, "...") || strings.HasPrefix(text, "---")
}

// remove leaves the comments that have lines of their own.
func (e *editor) remove(first, last int) {
	for i := first; i <= last; i++ {
		if i == first || !blank(e.lines[i].text) {
			e.lines[i].gone = true
		}
	}
}

// setValue replaces a value that begins on some line, and ends there or on a later one.
func (e *editor) setValue(v *yaml.Node, last int, text string) {
	l := v.Line - 1
	s := scanner{lines: e.lines, line: l, at: byteColumn(e.lines[l].text, v.Column)}
	start := s.properties()
	switch {
	case v.Kind == yaml.SequenceNode || v.Kind == yaml.MappingNode:
		s.brackets()
	case v.Kind == yaml.ScalarNode && v.Style&yaml.DoubleQuotedStyle != 0:
		s.quoted('"')
	case v.Kind == yaml.ScalarNode && v.Style&yaml.SingleQuotedStyle != 0:
		s.quoted('\'')
	default:
		s.plain()
		for i := l + 1; i <= last; i++ { // the rest of a plain or block text
			e.lines[i].gone = e.lines[i].gone || !blank(e.lines[i].text)
		}
	}
	rest := e.lines[s.line].text[s.at:]
	e.lines[l].text = e.lines[l].text[:start] + text + rest
	for i := l + 1; i <= s.line; i++ {
		e.lines[i].gone = true
	}
	if s.line > l {
		e.lines[l].end = e.lines[s.line].end
	}
	indent := e.lines[l].text[:len(e.lines[l].text)-len(strings.TrimLeft(e.lines[l].text, " "))]
	for _, c := range s.comments {
		e.lines[l].above = append(e.lines[l].above, indent+c)
	}
}

// byteColumn is where the character in a column begins; columns count characters from 1.
func byteColumn(text string, column int) int {
	for i := range text {
		if column--; column == 0 {
			return i
		}
	}
	return len(text)
}
