package guess

import (
	"regexp"
	"strconv"
	"strings"
)

// source is a program in Python. In its mask, comments and string contents are blanked
// out, so that its brackets and commas are those of the code. Offsets are the same in both.
type source struct{ text, mask string }

func newSource(text string) source {
	mask := []byte(text)
	for i := 0; i < len(text); {
		switch c := text[i]; c {
		case '#':
			for ; i < len(text) && text[i] != '\n'; i++ {
				mask[i] = ' '
			}
		case '"', '\'':
			quote := text[i : i+1]
			if triple := strings.Repeat(quote, 3); strings.HasPrefix(text[i:], triple) {
				quote = triple
			}
			for i += len(quote); i < len(text) && !strings.HasPrefix(text[i:], quote) &&
				(len(quote) == 3 || text[i] != '\n'); i++ {
				mask[i] = ' '
				if text[i] == '\\' && i+1 < len(text) {
					i++
					mask[i] = ' '
				}
			}
			i = min(i+len(quote), len(text))
		default:
			i++
		}
	}
	return source{text, string(mask)}
}

// span is a part of a source, from a start up to but without an end.
type span struct{ start, end int }

// call is a call of a function: its arguments without a name, and those with one.
type call struct {
	function   string // what the parentheses of the pattern matched
	positional []string
	named      map[string]string
}

// calls returns the calls whose function, with the opening parenthesis, a pattern matches.
func (s source) calls(pattern *regexp.Regexp) (found []call) {
	for _, at := range pattern.FindAllStringSubmatchIndex(s.mask, -1) {
		c := call{named: map[string]string{}}
		if len(at) > 2 && at[2] >= 0 {
			c.function = s.mask[at[2]:at[3]]
		}
		for _, a := range s.elements(at[1]) {
			text := s.text[a.start:a.end]
			m := keyword.FindStringSubmatchIndex(s.mask[a.start:a.end])
			if m != nil && !strings.HasPrefix(text[m[1]:], "=") {
				c.named[text[m[2]:m[3]]] = text[m[1]:]
			} else {
				c.positional = append(c.positional, text)
			}
		}
		found = append(found, c)
	}
	return found
}

var keyword = regexp.MustCompile(`^(\w+)\s*=\s*`)

// elements returns what commas separate, from a position behind an opening bracket to the bracket
// that closes it.
func (s source) elements(start int) (found []span) {
	add := func(end int) {
		part := s.mask[start:end]
		from := start + len(part) - len(strings.TrimLeft(part, " \t\r\n"))
		if text := strings.TrimSpace(part); text != "" {
			found = append(found, span{from, from + len(text)})
		}
		start = end + 1
	}
	depth := 0
	for i := start; i < len(s.mask); i++ {
		switch s.mask[i] {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth == 0 {
				add(i)
				return found
			}
			depth--
		case ',':
			if depth == 0 {
				add(i)
			}
		}
	}
	return nil // the bracket is never closed
}

var (
	textLiteral   = regexp.MustCompile(`^[ru]?(?:"([^"\\{}\n]*)"|'([^'\\{}\n]*)')$`)
	numberLiteral = regexp.MustCompile(`^-?(\d[\d_]*(\.\d*)?|\.\d+)([eE][-+]?\d+)?$`)
)

// literal returns the value of a literal of Python as a program would take it from its command
// line, and its type: int, float, str, bool; "": it is no literal, or None.
func literal(text string) (value, kind string) {
	switch m := textLiteral.FindStringSubmatch(text); {
	case m != nil:
		return m[1] + m[2], "str"
	case text == "True" || text == "False":
		return strings.ToLower(text), "bool"
	case !numberLiteral.MatchString(text):
		return "", ""
	}
	value = strings.ReplaceAll(text, "_", "")
	if _, err := strconv.Atoi(value); err == nil {
		return value, "int"
	}
	return value, "float"
}

// literals returns the values of a list or tuple of literals.
func literals(text string) (values []string) {
	if text == "" || !strings.ContainsAny(text[:1], "[(") {
		return nil
	}
	s := newSource(text)
	for _, e := range s.elements(1) {
		value, kind := literal(text[e.start:e.end])
		if kind == "" {
			return nil
		}
		values = append(values, value)
	}
	return values
}
