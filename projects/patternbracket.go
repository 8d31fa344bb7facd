package projects

import "strings"

// bracket reads the bracket expression that pattern begins with into members and returns its
// length; 0 means that it has no end or names an unknown class, and the pattern matches nothing.
func bracket(pattern string, members *[256]bool) int {
	i, negated := 1, false
	if i < len(pattern) && (pattern[i] == '!' || pattern[i] == '^') {
		i, negated = i+1, true
	}
	start, previous := i, -1 // previous: the member that a "-" would continue from
	for i < len(pattern) && (i == start || pattern[i] != ']') {
		low, n, class := member(pattern[i:])
		switch {
		case n == 0:
			return 0
		case class != nil:
			addClass(members, class)
			previous = -1
		case pattern[i] == '-' && previous >= 0 && i+1 < len(pattern) && pattern[i+1] != ']':
			high, m := escaped(pattern[i+1:])
			if m == 0 {
				return 0
			}
			for c := previous; c <= int(high); c++ {
				members[c] = true
			}
			n, previous = 1+m, -1
		default:
			members[low] = true
			previous = int(low)
		}
		i += n
	}
	if i >= len(pattern) {
		return 0
	}
	for c := range members {
		members[c] = members[c] != negated
	}
	members['/'] = false
	return i + 1
}

// member reads one member: a byte, an escaped byte, or a class like [:digit:]. n is its length, 0
// when it is malformed.
func member(text string) (b byte, n int, class func(byte) bool) {
	if strings.HasPrefix(text, "[:") {
		name, _, closed := strings.Cut(text[2:], "]")
		if !closed {
			return 0, 0, nil
		}
		if word, ok := strings.CutSuffix(name, ":"); ok {
			if class = classes[word]; class == nil {
				return 0, 0, nil
			}
			return 0, len("[:]") + len(name), class
		}
	}
	b, n = escaped(text)
	return b, n, nil
}

// escaped reads one byte, with or without a backslash before it; n is 0 for a backslash at the end.
func escaped(text string) (b byte, n int) {
	if text[0] != '\\' {
		return text[0], 1
	}
	if len(text) == 1 {
		return 0, 0
	}
	return text[1], 2
}

func addClass(members *[256]bool, class func(byte) bool) {
	for c := range members {
		members[c] = members[c] || class(byte(c))
	}
}

// classes are POSIX's, for ASCII only, as in git.
var classes = map[string]func(byte) bool{
	"alnum":  func(c byte) bool { return letter(c) || digit(c) },
	"alpha":  letter,
	"blank":  func(c byte) bool { return c == ' ' || c == '\t' },
	"cntrl":  func(c byte) bool { return c < ' ' || c == 0x7f },
	"digit":  digit,
	"graph":  func(c byte) bool { return c > ' ' && c < 0x7f },
	"lower":  lower,
	"print":  func(c byte) bool { return c >= ' ' && c < 0x7f },
	"punct":  func(c byte) bool { return c > ' ' && c < 0x7f && !letter(c) && !digit(c) },
	"space":  func(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' },
	"upper":  upper,
	"xdigit": func(c byte) bool { return digit(c) || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F' },
}

func digit(c byte) bool  { return c >= '0' && c <= '9' }
func lower(c byte) bool  { return c >= 'a' && c <= 'z' }
func upper(c byte) bool  { return c >= 'A' && c <= 'Z' }
func letter(c byte) bool { return lower(c) || upper(c) }
