package config

import "strings"

// scanner finds where a value ends, which the parser does not tell. Comments that it passes over are kept.
type scanner struct {
	lines    []line
	line, at int // in bytes
	comments []string
}

func (s *scanner) rest() string { return s.lines[s.line].text[s.at:] }

// properties passes over anchor and tag before a value. It returns where the value begins, or a tag before it: an anchor
// stays, as something may refer to it, and a tag goes.
func (s *scanner) properties() int {
	begin := -1
	for text := s.rest(); text != "" && (text[0] == '&' || text[0] == '!'); text = s.rest() {
		length := strings.IndexAny(text, " \t")
		if length < 0 {
			break // the value is on another line, which is seen when the result is read
		}
		if text[0] == '!' && begin < 0 {
			begin = s.at
		}
		s.at += length + len(text[length:]) - len(strings.TrimLeft(text[length:], " \t"))
	}
	if begin < 0 {
		return s.at
	}
	return begin
}

// next goes to the next line, and tells whether there is one.
func (s *scanner) next() bool {
	if s.line+1 >= len(s.lines) {
		s.at = len(s.lines[s.line].text)
		return false
	}
	s.line, s.at = s.line+1, 0
	return true
}

// plain goes to the end of a bare text on this line: before a comment, and before the spaces in front of it.
func (s *scanner) plain() {
	text := s.rest()
	for i := range text {
		if text[i] == '#' && i > 0 && (text[i-1] == ' ' || text[i-1] == '\t') {
			text = text[:i]
			break
		}
	}
	s.at += len(strings.TrimRight(text, " \t"))
}

// quoted goes behind the closing quote.
func (s *scanner) quoted(quote byte) {
	s.at++ // the opening one
	for {
		text := s.rest()
		switch {
		case text == "":
			if !s.next() {
				return
			}
		case quote == '"' && text[0] == '\\' && len(text) > 1:
			s.at += 2
		case quote == '\'' && strings.HasPrefix(text, "''"):
			s.at += 2
		case text[0] == quote:
			s.at++
			return
		default:
			s.at++
		}
	}
}

// brackets goes behind the bracket that closes the one here.
func (s *scanner) brackets() {
	depth := 0
	before := byte(' ')
	for {
		text := s.rest()
		switch {
		case text == "":
			if !s.next() {
				return
			}
			before = ' '
			continue
		case text[0] == '#' && (before == ' ' || before == '\t'):
			s.comments = append(s.comments, text)
			s.at += len(text)
			continue
		case (text[0] == '"' || text[0] == '\'') && strings.IndexByte(" \t[{,:", before) >= 0:
			s.quoted(text[0])
			before = text[0]
			continue
		case text[0] == '[' || text[0] == '{':
			depth++
		case text[0] == ']' || text[0] == '}':
			depth--
		}
		before = text[0]
		s.at++
		if depth <= 0 {
			return
		}
	}
}
