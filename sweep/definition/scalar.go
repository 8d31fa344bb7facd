package definition

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"gopkg.in/yaml.v3"

	"mlframework/internal/yamlfile"
)

// maxQuoted is how many characters of a file's text a message repeats.
const maxQuoted = 60

// text returns a single value as it is written, quotes and escapes resolved.
func (r *reader) text(v value) (string, bool) {
	if !r.usable(v) {
		return "", false
	}
	if v.Kind != yaml.ScalarNode {
		r.wrong(v, "is "+describe(v.Node)+", not a single value")
		return "", false
	}
	return v.Value, true
}

// word returns text that is not empty and has no control characters.
func (r *reader) word(v value) (string, bool) {
	text, ok := r.text(v)
	switch {
	case !ok:
		return "", false
	case text == "":
		r.wrong(v, "is empty")
		return "", false
	case strings.ContainsFunc(text, unicode.IsControl):
		r.fault(v, quote(text)+" holds a control character", "remove it")
		return "", false
	}
	return text, true
}

// words returns a list of such texts, each there once.
func (r *reader) words(v value) []value {
	elements, _ := r.sequence(v)
	seen := map[string]bool{}
	return slices.DeleteFunc(elements, func(e value) bool {
		text, ok := r.word(e)
		if ok && seen[text] {
			r.fault(e, quote(text)+" is there twice", "remove one")
			ok = false
		}
		seen[text] = true
		return !ok
	})
}

// boolean accepts what YAML 1.2 does, unquoted.
func (r *reader) boolean(v value) (b, ok bool) {
	text, ok := r.text(v)
	if !ok {
		return false, false
	}
	if yamlfile.IsPlain(v.Node) {
		switch text {
		case "true", "True", "TRUE":
			return true, true
		case "false", "False", "FALSE":
			return false, true
		}
	}
	r.fault(v, "is "+quote(text)+", not true or false", "write true or false, without quotes")
	return false, false
}

// count returns a whole number from 0 to limit, unquoted; 0 after a fault.
func (r *reader) count(v value, limit int) int {
	text, ok := r.text(v)
	if !ok {
		return 0
	}
	digits := strings.TrimPrefix(text, "-")
	if !yamlfile.IsPlain(v.Node) || digits == "" || strings.Trim(digits, "0123456789") != "" {
		r.wrong(v, "is "+quote(text)+", not a whole number")
		return 0
	}
	n, err := strconv.Atoi(digits)
	switch {
	case n != 0 && digits != text:
		r.fault(v, printable(text)+" is negative", "write 0 or more")
		return 0
	case err != nil || n > limit:
		r.fault(v, printable(text)+" is too many", fmt.Sprintf("write %d or less", limit))
		return 0
	}
	return n
}

// projectPath returns a clean relative path that stays in the project; what names the kind, "file"
// or "folder".
func (r *reader) projectPath(v value, what string) string {
	text, ok := r.word(v)
	if !ok {
		return ""
	}
	clean := path.Clean(text)
	switch {
	case path.IsAbs(text) || strings.HasPrefix(text, "~") ||
		!filepath.IsLocal(filepath.FromSlash(clean)):
		r.fault(v, quote(text)+" is outside the project",
			"name a "+what+" of the project: "+v.example)
		return ""
	case what == "file" && (clean == "." || strings.HasSuffix(text, "/")):
		r.fault(v, quote(text)+" is a folder, not a file", "write "+v.example)
		return ""
	}
	return clean
}

// quote repeats text of the file in a message: quoted, escaped and not too long.
func quote(text string) string { return strconv.Quote(shorten(text)) }

// printable returns quote without the quotes, for text that reads better bare.
func printable(text string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsPrint(c) {
			return c
		}
		return unicode.ReplacementChar
	}, shorten(text))
}

func shorten(text string) string {
	count := 0
	for i := range text {
		if count == maxQuoted {
			return text[:i] + "…"
		}
		count++
	}
	return text
}
