package rawjson

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Reader reads the JSON that this package writes. Its methods return false where the text is
// anything else: then encoding/json says what it is.
type Reader struct {
	text string
	at   int
}

// NewReader returns a reader of a text.
func NewReader(text string) *Reader { return &Reader{text: text} }

// Rest returns what was not read yet.
func (r *Reader) Rest() string { return r.text[r.at:] }

// Skip moves on over so many bytes of Rest.
func (r *Reader) Skip(n int) { r.at += n }

// Take moves on over one character, if it is the next.
func (r *Reader) Take(c byte) bool {
	if r.at < len(r.text) && r.text[r.at] == c {
		r.at++
		return true
	}
	return false
}

// Null moves on over null, if it is next.
func (r *Reader) Null() bool {
	if strings.HasPrefix(r.text[r.at:], "null") {
		r.at += len("null")
		return true
	}
	return false
}

// Word reads a string. The text of the line is shared where nothing in it is escaped.
func (r *Reader) Word(into *string) bool {
	if !r.Take('"') {
		return false
	}
	for i := r.at; i < len(r.text); i++ {
		switch c := r.text[i]; {
		case c == '"':
			*into = r.text[r.at:i]
			r.at = i + 1
			return utf8.ValidString(*into)
		case c == '\\':
			return r.escaped(into)
		case c < ' ':
			return false
		}
	}
	return false
}

// escaped reads a string with escapes, from behind its first quote.
func (r *Reader) escaped(into *string) bool {
	for i := r.at; i < len(r.text); i++ {
		switch r.text[i] {
		case '\\':
			i++
		case '"':
			quoted := r.text[r.at-1 : i+1]
			r.at = i + 1
			text, err := unquote(quoted)
			*into = text
			return err == nil
		}
	}
	return false
}

func unquote(quoted string) (text string, err error) {
	err = json.Unmarshal([]byte(quoted), &text)
	return text, err
}

// WordOrNull reads a string, or null as an empty one.
func (r *Reader) WordOrNull(into *string) bool { return r.Null() || r.Word(into) }

// digits returns the text of a number, as far as it may be one: what it is converted with knows
// better.
func (r *Reader) digits() string {
	from := r.at
	for r.at < len(r.text) && (r.text[r.at]-'0' <= 9 || strings.IndexByte("+-.eE",
		r.text[r.at]) >= 0) {
		r.at++
	}
	text := r.text[from:r.at]
	plain := strings.TrimPrefix(text, "-")
	if plain == "" || plain[0]-'0' > 9 || len(plain) > 1 && plain[0] == '0' && plain[1]-'0' <= 9 ||
		strings.HasSuffix(text, ".") ||
		strings.Contains(text, ".e") || strings.Contains(text, ".E") {
		return "" // Go's syntax is wider than JSON's
	}
	return text
}

// Whole reads a whole number.
func (r *Reader) Whole(into *int64) bool {
	n, err := strconv.ParseInt(r.digits(), 10, 64)
	*into = n
	return err == nil
}

// Number reads a number.
func (r *Reader) Number(into *float64) bool {
	v, err := strconv.ParseFloat(r.digits(), 64)
	*into = v
	return err == nil
}

// AnyNumber reads a number; one that is too large for floating point is infinite.
func (r *Reader) AnyNumber(into *float64) bool { return r.Number(into) || math.IsInf(*into, 0) }

// IntOrNull reads a whole number, or null as nil.
func (r *Reader) IntOrNull(into **int) bool {
	var n int64
	if r.Null() {
		return true
	}
	ok := r.Whole(&n) && n >= math.MinInt && n <= math.MaxInt
	value := int(n)
	*into = &value
	return ok
}

// NumberOrNull reads a number, or null as nil.
func (r *Reader) NumberOrNull(into **float64) bool {
	if r.Null() {
		return true
	}
	var v float64
	*into = &v
	return r.Number(&v)
}

// TimeOrNull reads a time in UTC, or null as nil.
func (r *Reader) TimeOrNull(into **time.Time) bool {
	var text string
	if r.Null() {
		return true
	}
	if !r.Word(&text) {
		return false
	}
	t, err := time.Parse(time.RFC3339Nano, text)
	*into = &t
	return err == nil && strings.HasSuffix(text, "Z")
}

// List reads a list of strings.
func (r *Reader) List(into *[]string) bool {
	if !r.Take('[') {
		return false
	}
	*into = []string{}
	for !r.Take(']') {
		var word string
		if len(*into) > 0 && !r.Take(',') || !r.Word(&word) {
			return false
		}
		*into = append(*into, word)
	}
	return true
}
