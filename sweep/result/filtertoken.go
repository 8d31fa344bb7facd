package result

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

type tokenKind int

const (
	endToken tokenKind = iota
	wordToken
	quotedToken
	operatorToken
	parenthesisToken
)

type token struct {
	kind tokenKind
	text string
	at   int
}

// advance reads the next token.
func (p *parser) advance() {
	p.skip(len(p.rest) - len(strings.TrimLeftFunc(p.rest, unicode.IsSpace)))
	at := p.at
	if p.rest == "" {
		p.token = token{kind: endToken, at: at}
		return
	}
	switch c := p.rest[0]; {
	case c == '(' || c == ')':
		p.token = token{parenthesisToken, p.skip(1), at}
	case c == '\'' || c == '"':
		p.quoted(c)
	case strings.IndexByte("=!<>~", c) >= 0:
		p.operator()
	default:
		p.token = token{wordToken, p.skip(wordLength(p.rest)), at}
	}
}

func (p *parser) operator() {
	at := p.at
	for _, op := range []string{"==", "!=", "!~", "<=", ">=", "=", "<", ">", "~"} {
		if strings.HasPrefix(p.rest, op) {
			p.skip(len(op))
			p.token = token{operatorToken, strings.Replace(op, "==", "=", 1), at}
			return
		}
	}
	p.fail(at, "! stands alone", "write != or !~, or the word not")
}

func (p *parser) quoted(quote byte) {
	var text strings.Builder
	for i := 1; i < len(p.rest); i++ {
		switch c := p.rest[i]; {
		case c == '\\' && i+1 < len(p.rest) && (p.rest[i+1] == quote || p.rest[i+1] == '\\'):
			i++
			text.WriteByte(p.rest[i])
		case c == quote:
			p.token = token{quotedToken, text.String(), p.at}
			p.skip(i + 1)
			return
		default:
			text.WriteByte(c)
		}
	}
	p.fail(p.at, fmt.Sprintf("this %c is never closed", quote), fmt.Sprintf("add a %c", quote))
}

// skip moves on by n bytes and returns them.
func (p *parser) skip(n int) string {
	text := p.rest[:n]
	p.at += utf8.RuneCountInString(text)
	p.rest = p.rest[n:]
	return text
}

func wordLength(s string) int {
	end := strings.IndexFunc(s, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("()=!<>~'\"", r) })
	if end < 0 {
		return len(s)
	}
	return end
}

// parseSeconds reads seconds, or a duration such as 90m.
func parseSeconds(text string) (float64, error) {
	if v, err := strconv.ParseFloat(text, 64); err == nil && isFinite(v) {
		return v, nil
	}
	d, err := time.ParseDuration(text)
	return d.Seconds(), err
}
