package expr_test

import (
	"math/rand/v2"
	"strconv"
	"testing"

	"mlframework/sweep/expr"
)

// decimals are values as people write them, most of which have no exact binary form.
var decimals = columns{
	"lr": expr.ValueOf("0.1"), "momentum": expr.ValueOf("0.2"), "sum": expr.ValueOf("0.3"),
	"ratio": expr.ValueOf("0.6"),
	"big":   expr.ValueOf("10000000000000"), "seed": expr.ValueOf("9007199254740993"),
	"tiny": expr.ValueOf("1e-300"),
	"near": expr.ValueOf("0.30000000000000004"), "zero": expr.ValueOf("0"),
	"endless": expr.ValueOf("1e308"),
}

func TestComputedNumbersCompareAsDecimals(t *testing.T) {
	t.Parallel()
	for expression, want := range map[string]bool{
		"lr + momentum <= 0.3": true, "lr + momentum = 0.3": true, "lr + momentum != 0.3": false,
		"lr + momentum < 0.3": false, "lr + momentum > 0.3": false, "lr + momentum >= 0.3": true,
		"0.3 >= lr + momentum": true, "sum in [lr + momentum]": true,
		"lr + momentum in [1, 0.3]": true,
		"lr + momentum - sum = 0":   true, "lr + momentum - sum > 0": false, "lr * 3 = sum": true,
		"ratio % momentum = 0": true, "ratio % lr = 0": true, "- ratio % momentum = 0": true,
		"ratio % - momentum = 0": true, "0.7 % momentum = 0.1": true, "ratio % 0.25 = 0.1": true,
		"log2(8) / 3 * lr = lr": true, "1 / 3 * 3 = 1": true,
		// what differs by more is different
		"lr + momentum = 0.3000000001": false, "lr + momentum < 0.3000000001": true,
		"ratio % 0.2000001 = 0": false,
		"tiny * 1 = 0":          false, "tiny * 2 > tiny": true, "tiny - 0 = 0": false,
		"endless * 10 > 1": true, "endless * 10 = 1": false, "1 - endless * 10 < 0": true,
		// whole numbers are exact
		"big + 1 = 10000000000001": true, "big + 1 > big": true, "big + 1 - big = 1": true,
		"big + 2 != 10000000000001": true,
		"(big + 1) % 10 = 1":        true,
		// as are those that nothing is computed of
		"near = 0.3": false, "near > sum": true, "near in [sum]": false,
		"seed = 9007199254740992": false,
	} {
		e, err := expr.Parse(expression, decimals)
		if err != nil {
			t.Errorf("%s: %v", expression, err)
			continue
		}
		if got := e.Holds(decimals.get); got != want {
			t.Errorf("%s: got %t", expression, got)
		}
	}
}

// Of two decimals, their sum and their product compare with what they are on paper, and exactly one
// of < = > holds.
func TestComputedNumbersAreTrichotomous(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		a, b := random.IntN(2000)-1000, random.IntN(2000)-1000
		row := columns{"a": decimal(a, 3), "b": decimal(b, 3), "sum": decimal(a+b, 3),
			"product": decimal(a*b, 6),
			"other":   decimal(random.IntN(2000)-1000, 3), "count": decimal(a,
				0), "multiple": decimal(a*b, 3)}
		for expression, want := range map[string]bool{
			"a + b = sum": true, "a * b = product": true, "a + b - sum = 0": true,
			"sum - b = a":                true,
			"b = 0 or count * b % b = 0": true, "b = 0 or multiple % b = 0": true,
			"b = 0 or product / b = a": true,
		} {
			e, err := expr.Parse(expression, row)
			if err != nil {
				t.Fatal(err)
			}
			if got := e.Holds(row.get); got != want {
				t.Fatalf("%s of %v: got %t", expression, row, got)
			}
		}
		held := 0
		for _, op := range []string{"<", "=", ">"} {
			e, err := expr.Parse("a + b "+op+" other", row)
			if err != nil {
				t.Fatal(err)
			}
			if e.Holds(row.get) {
				held++
			}
		}
		if held != 1 {
			t.Fatalf("%v: %d of < = > hold", row, held)
		}
	}
}

// decimal is n / 10^places, as it is written.
func decimal(n, places int) expr.Value {
	scale := 1.0
	for range places {
		scale *= 10
	}
	return expr.ValueOf(strconv.FormatFloat(float64(n)/scale, 'f', -1, 64))
}

// Booleans of YAML are equal in any of their cases, but for text in quotes.
func TestBooleans(t *testing.T) {
	t.Parallel()
	row := columns{"lower": expr.ValueOf("true"), "title": expr.ValueOf("True"),
		"upper": expr.ValueOf("FALSE"),
		"mixed": expr.ValueOf("tRUE"), "text": expr.ValueOf("Adam")}
	for expression, want := range map[string]bool{
		"lower = True": true, "lower = TRUE": true, "lower = true": true, "title = true": true,
		"title == TRUE": true,
		"title != true": false, "upper = false": true, "upper = true": false, "upper != True": true,
		"title in [true]":    true,
		"lower in [x, True]": true, "lower not in [False, TRUE]": false, "title = lower": true,
		"lower in [title]": true,
		"lower = 'True'":   false, "lower = 'true'": true, "title = 'true'": false,
		"title in ['true']":       false,
		"title in ['true', true]": true, "'true' in [title]": false, "mixed = true": false,
		"title = tRUE": false, "text = adam": false, "title = 1": false,
	} {
		checkHolds(t, row, expression, want)
	}
}
