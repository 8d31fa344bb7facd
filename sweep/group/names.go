package group

import (
	"fmt"
	"strings"

	"mlframework/sweep/expr"
)

// Names reads names of columns with commas between them; it is not nil. A name in backquotes may
// have commas in it, as in "`a,b`, lr"; a backslash keeps a backquote or backslash there. Empty
// names are left out.
func Names(text string) ([]string, error) {
	names := []string{}
	for more := true; more; {
		name, quoted := "", false
		if text = strings.TrimSpace(text); strings.HasPrefix(text, "`") {
			var closed bool
			if name, text, closed = unquoted(text[1:]); !closed {
				return nil, fmt.Errorf("the ` before %q is never closed; write `NAME`", name)
			}
			quoted = true
		}
		var rest string
		rest, text, more = strings.Cut(text, ",")
		switch rest = strings.TrimSpace(rest); {
		case quoted && rest != "":
			return nil, fmt.Errorf("%q stands behind the name `%s`; write a comma between names",
				rest, name)
		case name+rest != "":
			names = append(names, name+rest)
		}
	}
	return names, nil
}

// unquoted reads a name up to the backquote that ends it.
func unquoted(text string) (name, rest string, closed bool) {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && i+1 < len(text) && (text[i+1] == '`' || text[i+1] == '\\'):
			i++
			b.WriteByte(text[i])
		case c == '`':
			return b.String(), text[i+1:], true
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), "", false
}

// JoinNames writes what [Names] reads.
func JoinNames(names []string) string {
	written := make([]string, len(names))
	for i, name := range names {
		if written[i] = name; name != strings.TrimSpace(name) || strings.ContainsAny(name, ",`") {
			written[i] = expr.Name(name)
		}
	}
	return strings.Join(written, ",")
}
