package projects

import "strings"

// A glob is a compiled pattern of gitignore(5): a literal start, then tokens. It is matched by
// following all states at once, so no pattern costs more than its length times the text's.
type glob struct {
	prefix string
	tokens []token
}

type tokenKind uint8

const (
	literal tokenKind = iota // the byte b
	any1                     // ?: one byte but a slash
	set                      // [...]: one byte of the set, never a slash
	star                     // *: bytes but slashes
	deep                     // **: bytes
	depth0                   // stands before the two tokens of **/, which may match nothing at all
)

type token struct {
	kind tokenKind
	b    byte
	set  *[256]bool
}

// special begins everything in a pattern that is not literal.
const special = `*?[\`

// compile reads a pattern without its leading "!" and slashes at either end; ok is false for one
// that can match nothing (an open bracket, a lone backslash at the end).
func compile(pattern string) (g glob, ok bool) {
	end := strings.IndexAny(pattern, special)
	if end < 0 {
		return glob{prefix: pattern}, pattern != ""
	}
	g.prefix = pattern[:end]
	// "**" is deep at the start of what follows the literal prefix, wherever that ends: git's own
	// reading of "a/b**/c".
	rest := pattern[end:]
	for i := 0; i < len(rest); {
		n := 0
		switch rest[i] {
		case '*':
			g.tokens, n = stars(g.tokens, rest, i)
		case '?':
			g.tokens, n = append(g.tokens, token{kind: any1}), 1
		case '[':
			members := new([256]bool)
			if n = bracket(rest[i:], members); n == 0 {
				return glob{}, false
			}
			g.tokens = append(g.tokens, token{kind: set, set: members})
		case '\\':
			if i+1 == len(rest) {
				return glob{}, false
			}
			g.tokens, n = append(g.tokens, token{kind: literal, b: rest[i+1]}), 2
		default:
			g.tokens, n = append(g.tokens, token{kind: literal, b: rest[i]}), 1
		}
		i += n
	}
	return g, true
}

// stars reads the run of asterisks at i. Two or more that fill a whole path component cross
// slashes.
func stars(tokens []token, pattern string, i int) ([]token, int) {
	after := strings.TrimLeft(pattern[i:], "*")
	n := len(pattern) - i - len(after)
	whole := (i == 0 || pattern[i-1] == '/') &&
		(after == "" || after[0] == '/' || strings.HasPrefix(after, `\/`))
	switch {
	case n < 2 || !whole:
		return append(tokens, token{kind: star}), n
	case after != "" && after[0] == '/':
		return append(tokens, token{kind: depth0}, token{kind: deep}), n
	default:
		return append(tokens, token{kind: deep}), n
	}
}

// match reports whether the whole text matches.
func (g glob) match(text string) bool {
	text, ok := strings.CutPrefix(text, g.prefix)
	if !ok || len(g.tokens) == 0 {
		return ok && text == ""
	}
	var a, b [64]bool // enough for nearly every pattern, and on the stack
	now, next := a[:], b[:]
	if n := len(g.tokens) + 1; n > len(a) {
		now, next = make([]bool, n), make([]bool, n)
	}
	g.enter(now, 0)
	for i := range len(text) {
		clear(next)
		g.step(now, next, text[i])
		now, next = next, now
	}
	return now[len(g.tokens)]
}

// step consumes one byte in every state of now.
func (g glob) step(now, next []bool, c byte) {
	for s, t := range g.tokens {
		switch {
		case !now[s]:
		case t.kind == deep, t.kind == star && c != '/':
			g.enter(next, s)
		case t.kind == literal && c == t.b, t.kind == any1 && c != '/', t.kind == set && t.set[c]:
			g.enter(next, s+1)
		}
	}
}

// enter marks state s and those that can be reached from it without a byte.
func (g glob) enter(states []bool, s int) {
	states[s] = true
	if s == len(g.tokens) {
		return
	}
	switch g.tokens[s].kind {
	case star, deep:
		g.enter(states, s+1)
	case depth0:
		g.enter(states, s+1)
		g.enter(states, s+3)
	}
}
