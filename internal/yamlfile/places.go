package yamlfile

import (
	"unicode/utf8"

	"mlframework/sweep/fault"
)

// Places translates the parser's lines and columns to those of an editor. The parser ends a line
// also at U+0085, U+2028 and U+2029, which editors do not.
type Places []struct{ line, column int } // where each line of the parser begins, counted from 1

// NewPlaces returns the places of a text.
func NewPlaces(text string) Places {
	p := make(Places, 1, 16)
	p[0].line, p[0].column = 1, 1
	line, column := 1, 1
	for i, r := range text {
		column++
		switch {
		case r == '\r' && i+1 < len(text) && text[i+1] == '\n':
			continue
		case r == '\n' || r == '\r':
			line, column = line+1, 1
		case r != '\u0085' && r != '\u2028' && r != '\u2029':
			continue
		}
		p = append(p, struct{ line, column int }{line, column})
	}
	p = append(p, struct{ line, column int }{line, column}) // the end of the text
	return p
}

// Of returns where an editor has a line and column of the parser, all from 1.
func (p Places) Of(line, column int) (editorLine, editorColumn int) {
	start := p[min(max(line, 1), len(p)-1)-1]
	return start.line, start.column + max(column, 1) - 1
}

// End is the place after the last character.
func (p Places) End() (line, column int) { return p[len(p)-1].line, p[len(p)-1].column }

// BadCharacter returns a fault of the first character in a text that no YAML file may have; nil:
// there is none.
func BadCharacter(text string) *fault.Fault {
	for i, r := range text {
		problem, remedy := "", "save the file as UTF-8"
		switch _, size := utf8.DecodeRuneInString(text[i:]); {
		case r == utf8.RuneError && size == 1:
			problem = "not UTF-8 text"
		case r == 0:
			problem = "a NUL byte"
		case r == '\ufeff':
			problem, remedy = "a byte order mark in the middle of the file", "remove it"
		case !printable(r):
			problem, remedy = "a control character",
				"remove it, or write it as an escape in double quotes"
		}
		if problem != "" {
			line, column := NewPlaces(text[:i]).End()
			return &fault.Fault{Line: line, Column: column, Problem: problem, Remedy: remedy}
		}
	}
	return nil
}

// printable is c-printable of YAML 1.2.2, section 5.1.
func printable(r rune) bool {
	switch {
	case r == '\t' || r == '\n' || r == '\r' || r == 0x85:
		return true
	case r < 0x20 || r >= 0x7f && r < 0xa0:
		return false
	default:
		return r <= 0xfffd || r >= 0x10000
	}
}
