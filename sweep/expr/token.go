package expr

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

type tokenKind uint8

const (
	endToken tokenKind = iota
	wordToken
	quotedToken
	nameToken     // in backquotes
	operatorToken // of a comparison or of arithmetic
	bracketToken  // one of ( ) [ ] and the comma
)

type token struct {
	kind   tokenKind
	text   string
	op     operator
	at     int  // column
	joined bool // nothing stands between it and the token before
}

func (t token) is(bracket string) bool { return t.kind == bracketToken && t.text == bracket }

// expected is what may come next: it tells run-3 from run - 3.
type expected uint8

const (
	anOperand expected = iota
	anOperator
	aList
	aPattern
)

// lexer takes tokens from the text; token is the one not yet consumed. After the first fault it
// sees only the end.
type lexer struct {
	rest  string
	at    int // column of rest
	token token
	last  token // the one before
	lists int   // how many calls and lists are open, in which commas separate
	wrong *Error
}

func (l *lexer) fail(at int, problem, remedy string) *node {
	if l.wrong == nil {
		l.wrong = &Error{Column: at, Problem: problem, Remedy: remedy}
	}
	l.token, l.rest = token{kind: endToken, at: at}, ""
	return nil
}

// advance reads the next token.
func (l *lexer) advance(e expected) {
	l.last = l.token
	spaces := len(l.rest) - len(strings.TrimLeftFunc(l.rest, unicode.IsSpace))
	l.skip(spaces)
	l.token = token{at: l.at, joined: spaces == 0}
	if l.rest == "" {
		return
	}
	switch c := l.rest[0]; {
	case c == '(' || c == ')' || l.lists > 0 && (c == ',' || c == ']') || e == aList && c == '[':
		l.take(bracketToken, 1)
	case c == '\'' || c == '"':
		l.quoted(quotedToken, c)
	case strings.IndexByte("=!<>~", c) >= 0:
		l.operator(e)
	case e == aPattern:
		l.take(wordToken, wordLength(l.rest, patternEnds))
	case c == '`':
		l.quoted(nameToken, c)
	case c == '*' || e == anOperator && isInner(c) || e == anOperand && isSign(l.rest):
		l.operator(e)
	default:
		l.word(e)
	}
}

// Characters that end a bare word, beside spaces.
const (
	patternEnds = "()=!<>~'\""
	wordEnds    = patternEnds + "`*"
	listEnds    = wordEnds + ",]"
)

func (l *lexer) word(e expected) {
	ends := wordEnds
	switch {
	case l.lists > 0:
		ends = listEnds
	case e == anOperator:
		ends = wordEnds + "[" // in[1, 2]
	}
	n := wordLength(l.rest, ends)
	if n > 1 && n < len(l.rest) && l.rest[n] == '(' && isInner(l.rest[n-1]) {
		n-- // a-(b)
	}
	l.take(wordToken, n)
}

// isInner reports whether an operator may also be part of a word.
func isInner(c byte) bool { return strings.IndexByte("+-/%", c) >= 0 }

// isSign reports whether text begins with a - that is the sign of what follows, and no part of a
// word.
func isSign(text string) bool {
	if text[0] != '-' {
		return false
	}
	next, _ := utf8.DecodeRuneInString(text[1:])
	return unicode.IsSpace(next) || next == '(' || next == '`'
}

func (l *lexer) operator(e expected) {
	for _, w := range written {
		if strings.HasPrefix(l.rest, w.text) {
			l.take(operatorToken, len(w.text))
			l.token.op = w.op
			return
		}
	}
	remedy := "write != or !~, or the word not"
	if e == anOperand {
		remedy = "write not, as in not (...)"
	}
	l.fail(l.at, "! stands alone", remedy)
}

func (l *lexer) quoted(kind tokenKind, quote byte) {
	var text strings.Builder
	for i := 1; i < len(l.rest); i++ {
		switch c := l.rest[i]; {
		case c == '\\' && i+1 < len(l.rest) && (l.rest[i+1] == quote || l.rest[i+1] == '\\'):
			i++
			text.WriteByte(l.rest[i])
		case c == quote:
			l.take(kind, i+1)
			l.token.text = text.String()
			return
		default:
			text.WriteByte(c)
		}
	}
	l.fail(l.at, fmt.Sprintf("this %c is never closed", quote), fmt.Sprintf("add a %c", quote))
}

// take makes a token of the next n bytes.
func (l *lexer) take(kind tokenKind, n int) {
	l.token.kind, l.token.text = kind, l.skip(n)
}

// skip moves on by n bytes and returns them.
func (l *lexer) skip(n int) string {
	text := l.rest[:n]
	l.at += utf8.RuneCountInString(text)
	l.rest = l.rest[n:]
	return text
}

func wordLength(s, ends string) int {
	end := strings.IndexFunc(s, func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune(ends, r)
	})
	if end < 0 {
		return len(s)
	}
	return end
}
