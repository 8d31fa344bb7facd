package metric

import (
	"encoding/json"
	"math"
	"strings"

	"mlframework/sweep/internal/rawjson"
)

// Stored is final values in one text, as [Final.AppendStored] writes them.
type Stored Final

// MarshalJSON writes the text.
func (s Stored) MarshalJSON() ([]byte, error) {
	return json.Marshal(string(Final(s).AppendStored(nil)))
}

// UnmarshalJSON reads what MarshalJSON writes.
func (s *Stored) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return err
	}
	all, err := AppendFinal(nil, text)
	*s = Stored(all)
	return err
}

// AppendStored appends f as the store keeps it and [AppendFinal] reads it: as MarshalJSON writes
// it, but with the numbers 1e999 and -1e999, which are beyond those of floating point, for what is
// infinite, and with [Spans] behind it where there are any.
func (f Final) AppendStored(b []byte) []byte {
	b = f.append(b, appendStored)
	if spans := f.Spans(); spans != nil {
		b = spans.AppendJSON(b)
	}
	return b
}

func appendStored(b []byte, v float64) []byte {
	switch {
	case math.IsInf(v, 1):
		return append(b, "1e999"...)
	case math.IsInf(v, -1):
		return append(b, "-1e999"...)
	default:
		return rawjson.AppendNumber(b, v)
	}
}

// AppendFinal appends what [Final.UnmarshalJSON] would read of text, and reads what
// [Final.AppendStored] wrote.
func AppendFinal(to Final, text string) (Final, error) {
	before := len(to)
	r := rawjson.NewReader(text)
	var spans Spans
	if to.ReadJSON(r) && (r.Rest() == "" || spans.ReadJSON(r) && r.Rest() == "") {
		spans.restore(to[before:])
		return to, nil
	}
	var read Final
	err := json.Unmarshal([]byte(text), &read)
	return append(to[:before], read...), err
}

// StoredMetric returns a function that reads one metric of what [Final.AppendStored] wrote. Of a
// name that is there twice it reads the first.
func StoredMetric(name string) func(text string) (value float64, ok bool) {
	key := string(append(rawjson.AppendQuoted(nil, name), ':'))
	return func(text string) (float64, bool) {
		for from := 0; ; {
			at := strings.Index(text[from:], key)
			if at < 0 {
				return 0, false
			}
			at, from = from+at, from+at+len(key)
			if at > 0 && text[at-1] != '\\' { // else it is the end of another name
				r, value := rawjson.NewReader(text[from:]), math.NaN()
				ok := r.Null() || r.AnyNumber(&value)
				return value, ok
			}
		}
	}
}
