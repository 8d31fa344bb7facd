package metric

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"

	"mlframework/sweep/expr"
)

// jsonLine is a line {"metrics": {NAME: NUMBER, ...}, "step": INTEGER, ...}, metrics in the line's
// order.
type jsonLine struct {
	metrics []jsonMetric
	step    *int64
}

type jsonMetric struct {
	name     string
	value    float64
	isNumber bool   // a number or null; false for true, false, text, lists and groups
	text     []byte // as written
}

func (l jsonLine) names(name string) bool {
	for i := range l.metrics {
		if l.metrics[i].name == name {
			return true
		}
	}
	return false
}

// readJSONLine reads line if it is a JSON object with an object "metrics", also with Python's NaN
// and Infinity.
func readJSONLine(line []byte) (jsonLine, bool) {
	line = bytes.TrimSpace(line)
	if len(line) == 0 || line[0] != '{' || !bytes.Contains(line, metricsKey) {
		return jsonLine{}, false
	}
	line = PlainJSON(line)
	var top map[string]json.RawMessage
	if json.Unmarshal(line, &top) != nil {
		return jsonLine{}, false
	}
	metrics, ok := readMetrics(top["metrics"])
	return jsonLine{metrics, ParseStep(string(top["step"]))}, ok
}

func readMetrics(object []byte) ([]jsonMetric, bool) {
	if len(object) == 0 || object[0] != '{' {
		return nil, false
	}
	var out []jsonMetric
	d := json.NewDecoder(bytes.NewReader(object))
	_, _ = d.Token() // the brace; object was found valid as part of the line
	for d.More() {
		key, err := d.Token()
		name, isText := key.(string)
		var value json.RawMessage
		if err != nil || !isText || d.Decode(&value) != nil {
			return nil, false
		}
		out = append(out, readMetric(name, value))
	}
	return out, true
}

func readMetric(name string, value json.RawMessage) jsonMetric {
	m := jsonMetric{name: name, text: value}
	switch c := value[0]; {
	case c == '-' || '0' <= c && c <= '9':
		m.value, m.isNumber = ParseNumber(string(value))
	case c == 'n':
		m.value, m.isNumber = math.NaN(), true
	}
	return m
}

// ParseStep reads a whole number, also written 4.0 or 4e3; nil: it is none.
func ParseStep(text string) *int64 {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return &n
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || v != math.Trunc(v) || math.Abs(v) > expr.Exact {
		return nil
	}
	n := int64(v)
	return &n
}

// PlainJSON returns a JSON text with what Python writes for numbers that JSON has none for in words
// of JSON: null for NaN, 1e999 for Infinity.
func PlainJSON(text []byte) []byte {
	if bytes.Contains(text, []byte("NaN")) || bytes.Contains(text, []byte("Infinity")) {
		return plainNumbers(text)
	}
	return text
}

// plainNumbers returns line with what Python writes, outside of texts, in words of JSON: null for
// NaN, and for Infinity and -Infinity numbers beyond those of floating point.
func plainNumbers(line []byte) []byte {
	out := make([]byte, 0, len(line)+16)
	for len(line) > 0 {
		n := 1
		if line[0] == '"' {
			n = quotedLength(line)
		}
		if word, plain := pythonNumber(line); word != "" {
			out, line = append(out, plain...), line[len(word):]
			continue
		}
		out, line = append(out, line[:n]...), line[n:]
	}
	return out
}

// pythonNumber returns the word of Python that b begins with, and what JSON has for it.
func pythonNumber(b []byte) (word, plain string) {
	for _, p := range [][2]string{{"NaN", "null"}, {"Infinity", "1e999"}, {"-Infinity", "-1e999"}} {
		if bytes.HasPrefix(b, []byte(p[0])) {
			return p[0], p[1]
		}
	}
	return "", ""
}

// quotedLength returns the length of the JSON text that b begins with, quotes included; all of b if
// it never ends.
func quotedLength(b []byte) int {
	for i := 1; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(b)
}
