package space

import (
	"encoding/json"
	"regexp"
	"strings"
)

var (
	// hydraBare matches text that Hydra reads as itself, or by its own grammar: null, True and
	// numbers, and what is in quotes or brackets.
	hydraBare = regexp.MustCompile(`^(?:[A-Za-z0-9_/.+%*:-]*|'.*'|".*"|\[.*\]|\{.*\}|\$\{.*\}|` +
		`(?:int|float|str|bool|choice|range|interval|glob|sort|shuffle|tag)\(.*\))$`)
	// hydraWord matches text that Hydra reads as text in a list or a mapping.
	hydraWord = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_/.-]*$`)
	// hydraTyped matches words that are not text.
	hydraTyped = regexp.MustCompile(`(?i)^(?:null|true|false|nan|inf)$`)
	// hydraSpecial matches what needs a backslash in a key.
	hydraSpecial = regexp.MustCompile(`[\\()\[\]{}:=, \t]`)
	// hydraQuote matches a quote, or the end of a text, with the backslashes before it.
	hydraQuote = regexp.MustCompile(`(\\*)('|$)`)
)

// hydra returns a value in Hydra's grammar for overrides.
func (v value) hydra() string {
	switch {
	case v.kind == JSON:
		d := json.NewDecoder(strings.NewReader(v.text))
		d.UseNumber()
		return string(appendHydra(nil, d))
	case v.kind == Text, v.kind == "" && !hydraBare.MatchString(v.text):
		return hydraQuoted(v.text)
	}
	return v.text
}

// hydraQuoted returns text in quotes. A quote in it has a backslash, and backslashes before a quote
// are doubled.
func hydraQuoted(text string) string {
	return "'" + hydraQuote.ReplaceAllStringFunc(text, func(found string) string {
		slashes, quoted := strings.CutSuffix(found, "'")
		if slashes += slashes; quoted {
			slashes += `\'`
		}
		return slashes
	}) + "'"
}

// appendHydra appends the next value of JSON.
func appendHydra(b []byte, d *json.Decoder) []byte {
	token, _ := d.Token() // it is JSON
	switch v := token.(type) {
	case json.Delim:
		b = append(b, byte(v))
		for i := 0; d.More(); i++ {
			if i > 0 {
				b = append(b, ',')
			}
			if v == '{' {
				key, _ := d.Token()
				text, _ := key.(string)
				b = append(append(b, hydraSpecial.ReplaceAllString(text, `\$0`)...), ':')
			}
			b = appendHydra(b, d)
		}
		end, _ := d.Token()
		if end == json.Delim('}') {
			return append(b, '}')
		}
		return append(b, ']')
	case string:
		if hydraWord.MatchString(v) && !hydraTyped.MatchString(v) {
			return append(b, v...)
		}
		return append(b, hydraQuoted(v)...)
	case json.Number:
		return append(b, v...)
	case bool:
		if v {
			return append(b, "true"...)
		}
		return append(b, "false"...)
	}
	return append(b, "null"...)
}
