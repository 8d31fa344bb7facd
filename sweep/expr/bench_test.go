package expr_test

import (
	"testing"

	"mlframework/sweep/expr"
)

// BenchmarkMatch is what a rule costs for each combination of a space, of values that are prepared.
func BenchmarkMatch(b *testing.B) {
	values := []expr.Value{expr.ValueOf("32"), expr.ValueOf("64"), expr.ValueOf("sgd"), {}}
	for _, text := range []string{"a * b <= 1000", "a + b < 200 and c = sgd",
		"a in [16, 32, 64] or c != adam", "log2(a) + log2(b) <= 11", "a / b < 1 and not c = d"} {
		b.Run(text, func(b *testing.B) {
			e, err := expr.Parse(text, letters{})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			get := func(slot int) expr.Value { return values[slot] }
			for b.Loop() {
				if _, err := e.Match(get); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkParse(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := expr.Parse("a * b <= 1000 and (c in [sgd, adam] or not log10(a) < -2)",
			letters{}); err != nil {
			b.Fatal(err)
		}
	}
}

// letters are the names a, b, c and d.
type letters struct{}

func (letters) Lookup(name string) (int, bool) {
	if len(name) != 1 || name < "a" || name > "d" {
		return 0, false
	}
	return int(name[0] - 'a'), true
}

func (letters) Unknown(name string) (problem, remedy string) { return "there is no " + name, "" }
