// Package rawjson writes and reads JSON whose shape is known, without reflection: the rows of large
// tables and the values of metrics.
package rawjson

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
)

// AppendQuoted appends a string as encoding/json writes it, but for < > & in it, which stay as they
// are: commands are full of them, and this is not HTML.
func AppendQuoted(b []byte, text string) []byte {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return appendEscaped(b, text)
		}
	}
	return append(append(append(b, '"'), text...), '"')
}

func appendEscaped(b []byte, text string) []byte {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // a string has a form always
	return append(b, bytes.TrimSuffix(out.Bytes(), []byte{'\n'})...)
}

// AppendWord appends a string, or null for none.
func AppendWord(b []byte, text string) []byte {
	if text == "" {
		return append(b, "null"...)
	}
	return AppendQuoted(b, text)
}

// AppendList appends a list of strings.
func AppendList(b []byte, words []string) []byte {
	b = append(b, '[')
	for i, word := range words {
		if i > 0 {
			b = append(b, ',')
		}
		b = AppendQuoted(b, word)
	}
	return append(b, ']')
}

// AppendInt appends a whole number, or null for none.
func AppendInt(b []byte, n *int) []byte {
	if n == nil {
		return append(b, "null"...)
	}
	return strconv.AppendInt(b, int64(*n), 10)
}

// AppendNumber appends a number in the form of ECMAScript, as encoding/json does; null for what is
// not a number, or infinite.
func AppendNumber(b []byte, v float64) []byte {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return append(b, "null"...)
	}
	size := math.Abs(v)
	if size == 0 || 1e-6 <= size && size < 1e21 {
		return strconv.AppendFloat(b, v, 'f', -1, 64)
	}
	b = strconv.AppendFloat(b, v, 'e', -1, 64)
	if n := len(b); n >= 4 && b[n-4] == 'e' && b[n-3] == '-' && b[n-2] == '0' { // e-09 is e-9
		b[n-2] = b[n-1]
		b = b[:n-1]
	}
	return b
}
