package metric

import (
	"encoding/json"
	"math"
	"strconv"

	"mlframework/sweep/internal/rawjson"
)

// Infinite is what is infinite among final values. JSON has no number for it: a value is null
// there, and beside it stands an object such as {"loss": "inf", "gain": "-inf"}. Readers that know
// nothing of it take the value for one that is not a number, as they do with NaN.
type Infinite []FinalValue

// Infinite returns those values of f that are infinite; nil when there are none.
func (f Final) Infinite() (all Infinite) {
	for _, m := range f {
		if math.IsInf(m.Value, 0) {
			all = append(all, m)
		}
	}
	return all
}

// restore puts infinite values back where JSON had null.
func (f Final) restore(all Infinite) {
	f.joinByName(all, func(into, m *FinalValue) {
		if math.IsNaN(into.Value) {
			into.Value = m.Value
		}
	})
}

// Restored returns f with the infinite values that stood beside it.
func (f Final) Restored(all Infinite) Final {
	f.restore(all)
	return f
}

// MarshalJSON writes an object of "inf" and "-inf".
func (all Infinite) MarshalJSON() ([]byte, error) { return all.AppendJSON(nil), nil }

// AppendJSON appends what MarshalJSON writes.
func (all Infinite) AppendJSON(b []byte) []byte {
	return appendObject(b, all, func(b []byte, m *FinalValue) []byte {
		return rawjson.AppendQuoted(b, infiniteText(m.Value))
	})
}

// UnmarshalJSON reads what MarshalJSON writes. Other texts are left out.
func (all *Infinite) UnmarshalJSON(data []byte) error {
	*all = nil
	return rawjson.ReadObject(data, func(name, text string) {
		if v, ok := parseInfinite(text); ok {
			*all = append(*all, FinalValue{Name: name, Value: v})
		}
	})
}

// ReadJSON reads what MarshalJSON writes; it returns false for anything else.
func (all *Infinite) ReadJSON(r *rawjson.Reader) bool {
	*all = nil
	return readObject(r, all, func(m *FinalValue) (ok bool) {
		var text string
		if r.Word(&text) {
			m.Value, ok = parseInfinite(text)
		}
		return ok
	})
}

// infiniteText returns "inf" or "-inf"; "" for what is finite or not a number.
func infiniteText(v float64) string {
	switch {
	case math.IsInf(v, 1):
		return "inf"
	case math.IsInf(v, -1):
		return "-inf"
	default:
		return ""
	}
}

func parseInfinite(text string) (v float64, ok bool) {
	switch text {
	case "inf":
		return math.Inf(1), true
	case "-inf":
		return math.Inf(-1), true
	default:
		return math.NaN(), false
	}
}

// finalValue is a value of a Final in JSON.
type jsonValue float64

// UnmarshalJSON reads null as NaN, and a number that is too large as infinite.
func (v *jsonValue) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		*v = jsonValue(math.NaN())
		return nil
	}
	n, err := strconv.ParseFloat(string(data), 64)
	if err != nil && !math.IsInf(n, 0) {
		return json.Unmarshal(data, (*float64)(v)) // says what is wrong
	}
	*v = jsonValue(n)
	return nil
}
