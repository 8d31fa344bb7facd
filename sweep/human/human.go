// Package human writes numbers, durations, text and command lines as people read them, and compares
// names as people order them.
package human

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Number writes a number for people: at most six significant digits; "inf", "-inf" and "nan" for
// what has none.
func Number(v float64) string {
	switch {
	case math.IsNaN(v):
		return "nan"
	case math.IsInf(v, 1):
		return "inf"
	case math.IsInf(v, -1):
		return "-inf"
	default:
		return strconv.FormatFloat(v, 'g', 6, 64)
	}
}

// Duration writes seconds for people: 420ms, 12.3s, 4m05s, 2h03m, 3d04h.
func Duration(seconds float64) string {
	if math.IsNaN(seconds) || math.IsInf(seconds, 0) || seconds < 0 {
		return "-"
	}
	if seconds < 0.9995 {
		return strconv.FormatFloat(seconds*1000, 'f', 0, 64) + "ms"
	}
	if seconds < 59.95 {
		return strconv.FormatFloat(seconds, 'f', 1, 64) + "s"
	}
	if seconds > 1e11 { // three thousand years: beyond what a count of seconds holds well
		return Number(seconds) + "s"
	}
	whole := int64(math.Round(seconds))
	const minute, hour, day = 60, 3600, 86400
	switch {
	case whole < hour:
		return fmt.Sprintf("%dm%02ds", whole/minute, whole%minute)
	case whole < day:
		return fmt.Sprintf("%dh%02dm", whole/hour, whole%hour/minute)
	default:
		return fmt.Sprintf("%dd%02dh", whole/day, whole%day/hour)
	}
}

// Visible returns text that is safe to show: control characters, invalid UTF-8 and characters that
// turn or hide text become Go escapes such as \x1b, \n and \u202e.
func Visible(text string) string {
	if isVisible(text) {
		return text
	}
	var b strings.Builder
	for len(text) > 0 {
		r, n := utf8.DecodeRuneInString(text)
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, text[0])
		case unicode.IsPrint(r):
			b.WriteString(text[:n])
		default:
			quoted := strconv.QuoteRune(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		}
		text = text[n:]
	}
	return b.String()
}

func isVisible(text string) bool {
	for i, r := range text {
		if r < utf8.RuneSelf && r >= ' ' && r != 0x7f {
			continue
		}
		if r < utf8.RuneSelf || !unicode.IsPrint(r) {
			return false
		}
		if r == utf8.RuneError && !strings.HasPrefix(text[i:], "\uFFFD") {
			return false
		}
	}
	return true
}

// Cause returns the text of an error without the operation and the path that package os puts before
// it.
func Cause(err error) string {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err
	}
	return err.Error()
}

// CommandLine writes argv so that bash, zsh and ksh read it back as it is, on one line. Nothing in
// it could move a terminal's cursor.
func CommandLine(argv []string) string {
	words := make([]string, len(argv))
	for i, a := range argv {
		words[i] = shellWord(a)
		if i == 0 && words[i] == a && strings.Contains(a, "=") {
			// the shell would take it for a variable
			words[i] = "'" + a + "'"
		}
	}
	return strings.Join(words, " ")
}

// shellWord quotes one word where it has to be.
func shellWord(word string) string {
	switch {
	case !isVisible(word):
		return ansiQuoted(word)
	case word == "" || word[0] == '=' || strings.ContainsFunc(word, needsQuote):
		return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	return word
}

// ansiQuoted is a word as $'...', in which what cannot be seen is written byte for byte.
func ansiQuoted(word string) string {
	var b strings.Builder
	b.WriteString("$'")
	for len(word) > 0 {
		r, n := utf8.DecodeRuneInString(word)
		switch {
		case r == '\'' || r == '\\':
			b.WriteString("\\" + word[:n])
		case r == '\n':
			b.WriteString(`\n`)
		case r == utf8.RuneError && n == 1, !unicode.IsPrint(r):
			for _, c := range []byte(word[:n]) {
				fmt.Fprintf(&b, `\%03o`, c)
			}
		default:
			b.WriteString(word[:n])
		}
		word = word[n:]
	}
	b.WriteByte('\'')
	return b.String()
}

func needsQuote(r rune) bool {
	return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) &&
		!strings.ContainsRune("@%+=:,./-_", r)
}

// Truncate bounds a text that is shown in a table or a line, in characters.
func Truncate(text string) string {
	const most = 300
	n := 0
	for at := range text {
		if n == most {
			return text[:at] + "…"
		}
		n++
	}
	return text
}
