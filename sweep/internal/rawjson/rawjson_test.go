package rawjson_test

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"testing"
	"testing/quick"
	"time"

	"mlframework/sweep/internal/rawjson"
)

// standard returns what encoding/json writes, with < > & as they are.
func standard(t *testing.T, v any) string {
	t.Helper()
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		t.Fatal(err)
	}
	return string(bytes.TrimSuffix(out.Bytes(), []byte("\n")))
}

func TestStringsAreThoseOfEncodingJSON(t *testing.T) {
	t.Parallel()
	same := func(text string) bool {
		quoted := rawjson.AppendQuoted([]byte("x"), text)
		var got string
		r := rawjson.NewReader(string(quoted[1:]) + ",rest")
		// What is not UTF-8 is written as U+FFFD.
		return string(quoted[1:]) == standard(t, text) && r.Word(&got) && r.Rest() == ",rest" &&
			got == string([]rune(text))
	}
	for _, text := range []string{"", "plain", `"quoted" \ slash`, "a<b>&c",
		"tab\tline\n\x00\x1f\x7f",
		"größe 名前", "\u2028\u2029", "\xff broken \xc3"} {
		if !same(text) {
			t.Errorf("%q is %s", text, rawjson.AppendQuoted(nil, text))
		}
	}
	if err := quick.Check(same, nil); err != nil {
		t.Error(err)
	}
}

func TestNumbersAreThoseOfEncodingJSON(t *testing.T) {
	t.Parallel()
	same := func(v float64) bool {
		text := string(rawjson.AppendNumber(nil, v))
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return text == "null"
		}
		var got float64
		r := rawjson.NewReader(text)
		return text == standard(t, v) && r.Number(&got) && got == v && r.Rest() == ""
	}
	for _, v := range []float64{0, math.Copysign(0, -1), 1, -1, 1e-6, 9.99e-7, 1e-9, 1e20, 1e21,
		1.5e300,
		math.MaxFloat64, math.SmallestNonzeroFloat64, math.NaN(), math.Inf(1), math.Inf(-1)} {
		if !same(v) {
			t.Errorf("%v is %s", v, rawjson.AppendNumber(nil, v))
		}
	}
	if err := quick.Check(same, nil); err != nil {
		t.Error(err)
	}
	if err := quick.Check(func(bits uint64) bool { return same(math.Float64frombits(bits)) },
		nil); err != nil {
		t.Error(err)
	}
}

func TestListsAreThoseOfEncodingJSON(t *testing.T) {
	t.Parallel()
	same := func(words []string) bool {
		if words == nil {
			words = []string{}
		}
		for i, w := range words {
			words[i] = string([]rune(w))
		}
		text := string(rawjson.AppendList(nil, words))
		var got []string
		r := rawjson.NewReader(text)
		return text == standard(t, words) && r.List(&got) && slices.Equal(got, words)
	}
	if err := quick.Check(same, nil); err != nil {
		t.Error(err)
	}
}

// What a Reader accepts, encoding/json accepts, and both read the same; it may refuse what
// encoding/json accepts.
func TestReaderReadsNothingElseThanJSON(t *testing.T) {
	t.Parallel()
	for text, accepted := range map[string]bool{
		"0": true, "-0": true, "12": true, "-7.5": true, "1e9": true, "1E-3": true,
		"9223372036854775807": true,
		"":                    false, "-": false, "+1": false, "01": false, "-01": false,
		"1.": false, ".5": false,
		"1.e3": false, "1e": false, "0x10": false, "1_000": false, "Infinity": false, "nan": false,
		"1e999": false, "--1": false,
	} {
		var got, want float64
		r := rawjson.NewReader(text)
		ok := r.Number(&got) && r.Rest() == ""
		if ok != accepted {
			t.Errorf("%q as a number: %t", text, ok)
		}
		if ok && (json.Unmarshal([]byte(text), &want) != nil || got != want) {
			t.Errorf("%q is %v, not %v", text, got, want)
		}
	}
	for _, text := range []string{`"open`, `"`, "\"line\nbreak\"", `"\x"`, `"\u12"`, `'single'`,
		`bare`,
		"\"\xff\"", `"end\`} {
		var got string
		if rawjson.NewReader(text).Word(&got) {
			t.Errorf("%q was read as %q", text, got)
		}
	}
	for _, text := range []string{"[", "[,]", `["a",]`, `["a" "b"]`, `[1]`, "{}", `["a",,"b"]`,
		`[null]`} {
		var got []string
		if rawjson.NewReader(text).List(&got) {
			t.Errorf("%q was read as %q", text, got)
		}
	}
}

func TestNullIsNone(t *testing.T) {
	t.Parallel()
	n, v, at := 5, 2.5, time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	for _, c := range []struct {
		text string
		n    *int
		v    *float64
		at   *time.Time
	}{
		{"null,null,null", nil, nil, nil},
		{`5,2.5,"2026-01-02T03:04:05.000000006Z"`, &n, &v, &at},
	} {
		var n *int
		var v *float64
		var at *time.Time
		r := rawjson.NewReader(c.text)
		ok := r.IntOrNull(&n) && r.Take(',') && r.NumberOrNull(&v) && r.Take(',') &&
			r.TimeOrNull(&at)
		if !ok || r.Rest() != "" || !equal(n, c.n) || !equal(v, c.v) || !equal(at, c.at) {
			t.Errorf("%s: %t, %v %v %v", c.text, ok, n, v, at)
		}
		if got := string(rawjson.AppendInt(nil, n)); got != c.text[:len(got)] {
			t.Errorf("%s: written as %s", c.text, got)
		}
	}
	var text string
	if r := rawjson.NewReader("null"); !r.WordOrNull(&text) || text != "" {
		t.Errorf("null is %q", text)
	}
	if got := string(rawjson.AppendWord(nil, "")) + string(
		rawjson.AppendWord(nil, "a")); got != `null"a"` {
		t.Error(got)
	}
	var local *time.Time
	if rawjson.NewReader(`"2026-01-02T03:04:05+01:00"`).TimeOrNull(&local) {
		t.Errorf("a time of another zone was read as %v", local)
	}
}

func equal[T comparable](a, b *T) bool {
	return a == nil && b == nil || a != nil && b != nil && *a == *b
}

// AnyNumber reads what the store has for infinite.
func TestAnyNumberMayBeInfinite(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]float64{"1e999": math.Inf(1), "-1e999": math.Inf(-1),
		"3": 3} {
		var got float64
		if !rawjson.NewReader(text).AnyNumber(&got) || got != want {
			t.Errorf("%s is %v", text, got)
		}
	}
}

func TestReadObjectKeepsTheOrder(t *testing.T) {
	t.Parallel()
	read := func(text string) (keys []string, sum int, err error) {
		err = rawjson.ReadObject([]byte(text), func(key string, v int) {
			keys, sum = append(keys, key), sum+v
		})
		return keys, sum, err
	}
	keys, sum, err := read(`{"b": 1, "a": 2, "b": 4, "": 8}`)
	if err != nil || sum != 15 || !slices.Equal(keys, []string{"b", "a", "b", ""}) {
		t.Errorf("%q %d %v", keys, sum, err)
	}
	if keys, _, err := read("null"); err != nil || keys != nil {
		t.Errorf("null: %q %v", keys, err)
	}
	for _, text := range []string{"", "[]", "5", `{"a"`, `{"a": "text"}`, `{"a": 1,`, `{1: 2}`} {
		if keys, _, err := read(text); err == nil {
			t.Errorf("%s: %q", text, keys)
		}
	}
}
