package expr_test

import (
	"errors"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"mlframework/sweep/expr"
)

// columns are names with values; that of a slot is the one of its name in the order of names.
type columns map[string]expr.Value

func (c columns) names() []string { return slices.Sorted(maps.Keys(c)) }

func (c columns) Lookup(name string) (int, bool) {
	return slices.BinarySearch(c.names(), name)
}

func (c columns) Unknown(name string) (problem, remedy string) {
	return "there is no column " + name, "write another"
}

func (c columns) get(slot int) expr.Value { return c[c.names()[slot]] }

// Literal reads durations for the column that has seconds.
func (c columns) Literal(slot int, word string) (v expr.Value, ok bool, wrong *expr.Error) {
	if c.names()[slot] != "seconds" {
		return expr.Value{}, false, nil
	}
	d, err := time.ParseDuration(word)
	if err != nil {
		return v, false, &expr.Error{Problem: strconv.Quote(word) + " is not a duration",
			Remedy: "write 90m"}
	}
	return expr.Value{Kind: expr.Number, Text: word, Number: d.Seconds()}, true, nil
}

func number(v float64) expr.Value { return expr.NumberOf(v) }

var row = columns{
	"a": number(6), "b": number(4), "zero": number(0), "negative": number(-2),
	"lr":   expr.ValueOf("1e-3"),
	"unit": expr.ValueOf("64"), "optimizer": expr.ValueOf("sgd"), "adam": expr.ValueOf("sgd"),
	"none": {}, "never": {},
	"nothing": expr.ValueOf(""), "broken": number(math.NaN()), "endless": number(math.Inf(1)),
	"seconds": number(5400), "run-3": number(3), "my loss": number(0.5), "log": number(100),
	"in":   number(1),
	"seed": expr.ValueOf("9007199254740993"), "id": expr.ValueOf("s-1/2"),
	"yes": expr.ValueOf("true"),
}

func TestHolds(t *testing.T) {
	t.Parallel()
	for expression, want := range map[string]bool{
		"": true, "  ": true,
		// as it was
		"a=6": true, "a == 6.0": true, "a!=6": false, "not a=6": false, "lr=0.001": true,
		"lr='0.001'": false, "lr='1e-3'": true,
		"optimizer=sgd": true, "optimizer='sgd'": true, "'optimizer'=sgd": true,
		`"optimizer"<zzz`: true, "id=s-1/2": true,
		"none=''": true, "none!=''": false, "none=x": false, "none!=x": true, "none<x": false,
		"none>=0": false, "nothing=''": true,
		"broken=nan": true, "broken=NaN": true, "broken='nan'": true, "broken!=1": true,
		"broken<1": false, "broken>1": false,
		"endless=inf": true, "endless>1e308": true, "negative>-inf": true, "endless=1e400": true,
		"a=6 or b=9 and b=8": true, "(a=6 or b=9) and b=8": false, "NOT (a=6 AND b=5)": true,
		"not not a=6":    true,
		"optimizer~'^s'": true, "optimizer~g.*": true, "optimizer!~x": true,
		"optimizer~^[ps][gd]+$": true, "none~^$": true, "a~6": true,
		"seed=9007199254740993": true, "seed=9007199254740992": false,
		"seed>9007199254740992": true,
		"optimizer>1":           true, "1<optimizer": true, "seconds=90m": true, "seconds>1h": true,
		"90m=seconds": true,
		"a=and":       false, "a=not": false, "not(a=1)": true, "a=6 and(b=4)": true,
		"a=6 or(b=1)": true,
		"optimizer>a": true, "optimizer<a": false, "a<optimizer": true, "id!=x,y": true,
		"a in [6] and id!=x,y":      true,
		"min(a, b) = 4 and id!=x,y": true,
		// operators
		"a + b = 10": true, "a - b = 2": true, "a * b <= 24": true, "a*b<24": false,
		"a / b = 1.5": true, "a % b = 2": true,
		"negative % 4 = -2": true, "a -b = 2": true, "a -1 = 5": true, "a*-1 < -5": true,
		"- a = -6": true, "- a * b = -24": true,
		"a - - b = 10": true, "a-(b) = 2": true, "(a)-1 = 5": true, "(a + b)/2 = 5": true,
		"(a + b) * (a - b) = 20": true,
		"a + b * 2 = 14":         true, "a - b - 1 = 1": true, "a / b / 2 = 0.75": true,
		"24 = a * b": true, "(a) = 6": true, "((a + b) = 10)": true,
		"negative * zero = 0": true, "negative * zero ~ ^0$": true, "a = b + 2": true,
		"b < a": true, "a = a": true, "-(a) = -6": true,
		// functions
		"min(a, b) = 4": true, "max(a,b,9) = 9": true, "abs(negative) = 2": true,
		"log2(unit) = 6": true, "log10(lr) = -3": true, "log10(0.1) = -1": true,
		"log10(2) * 1 < 0.302": true, "log10(endless) = inf": true,
		"log(1) = 0": true, "log > 99": true, "log2 (unit) = 6": true, "max((a), b - 1) = 6": true,
		"a=min(7,6)": true,
		// lists
		"a in [1, 6]": true, "a in[1,2]": false, "a not in [1, 2]": true,
		"optimizer in [adam, 'sgd']": true, "id in [s-1/2]": true,
		"optimizer IN [x] or b NOT IN [4]": false, "none in ['']": true, "none not in [x]": true,
		"a + b in [5 * 2]":     true,
		"seconds in [1h, 90m]": true, "4 in [a, b]": true, "'sgd' in [optimizer]": true,
		"a in [min(a, b), max(a, b)]": true,
		"in in [1]":                   true, "in=1": true, "not a in [6]": false,
		// a bare word that is a name is its value
		"optimizer=adam": true, "optimizer='adam'": false, "'sgd'=optimizer": true,
		"run-3 = 3": true, "run-3 * 2 = 6": true,
		"`my loss` * 2 = 1": true, "'my loss'=0.5": true, "0.5=`my loss`": true,
		"a > `my loss`":     true,
		"-`my loss` = -0.5": true, "yes=true": true, "yes='true'": true,
		// what has no result
		"a / zero = 1": false, "a / zero != 1": false, "not a / zero = 1": true,
		"a % zero = 0": false, "zero != 0 and a / zero = 1": false,
		"none + 1 != 0": false, "optimizer * 2 != 1": false, "log(zero) < 0": false,
		"log(negative) < 0": false, "none = never": true,
		"none + 1 in [1]": false, "none + 1 ~ ''": false, "broken + 1 = nan": true,
		"broken * 2 != 1": true, "min(a, broken) = nan": true,
		"min(a, none) = 6": false, "- none != 1": false, "a / zero not in [1]": false,
		"a not in [1, a / zero]": false,
		"a not in [6, a / zero]": false, "not a / zero in [1]": true,
		"not a / zero not in [1]": true, "broken + 1 not in [1]": true,
		"none + 1 not in [1] or a=6": true, "none not in ['', a / zero]": false,
	} {
		checkHolds(t, row, expression, want)
	}
}

// checkHolds checks whether a condition holds of a row, also when it was printed and read again.
func checkHolds(t *testing.T, row columns, expression string, want bool) {
	t.Helper()
	e, err := expr.Parse(expression, row)
	if err != nil {
		t.Errorf("%s: %v", expression, err)
		return
	}
	if got := e.Holds(row.get); got != want {
		t.Errorf("%s: got %t", expression, got)
	}
	again, err := expr.Parse(e.String(), row)
	if err != nil {
		t.Errorf("%s is printed as %s: %v", expression, e, err)
	} else if again.String() != e.String() || again.Holds(row.get) != want {
		t.Errorf("%s is printed as %s, and that as %s", expression, e, again)
	}
}

func TestString(t *testing.T) {
	t.Parallel()
	for expression, want := range map[string]string{
		"": "", " a==6 ": "a = 6", "(a = 6)": "a = 6", "'a'=6": "a = 6",
		"optimizer=x": "optimizer = 'x'", "optimizer=adam": "optimizer = adam",
		"a=1 and (b=2 and lr=3)": "a = 1 and (b = 2 and lr = 3)",
		"(a=1 or b=2) and lr<3":  "(a = 1 or b = 2) and lr < 3",
		"NOT(a=1 and b=2)":       "not (a = 1 and b = 2)", "((a*b)) + 1>2": "a * b + 1 > 2",
		"(a + b)*2=1":     "(a + b) * 2 = 1",
		"a - (b - 1) = 1": "a - (b - 1) = 1", "- (a + 1) = 1": "- (a + 1) = 1",
		"id='it\\'s\\\\'":  `id = 'it\'s\\'`,
		"a NOT IN [1,'2']": "a not in [1, '2']", "not a not in [1]": "not a not in [1]",
		"not (a in [1])": "not a in [1]", "'my loss'<max(a,1)": "`my loss` < max(a, 1)",
		"seconds>90m": "seconds > 90m", "`in`=1": "`in` = 1",
	} {
		if e, err := expr.Parse(expression, row); err != nil || e.String() != want {
			t.Errorf("%s: got %v, %v, want %s", expression, e, err, want)
		}
	}
}

func TestErrorsNameThePlaceAndTheWayOut(t *testing.T) {
	t.Parallel()
	const value = "write one; quote it if it has spaces or ( ) = < > ~ ! * in it"
	const compare = "write one of = != < <= > >= ~ !~ in and a value"
	const spaces = "put spaces around + - / % to calculate, or quotes around text"
	for expression, want := range map[string]string{
		"a=":      "column 3: a value is missing after =; " + value,
		"a = * 2": "column 5: a value is missing after =; " + value,
		"a + = 2": "column 5: a value is missing after +; " + value,
		"a=5 and": "column 8: a comparison is missing here; write NAME = VALUE",
		"a": "column 2: a comparison is missing after a; " + compare +
			", or a = true if it is a boolean",
		"a ** 2 < 3": "column 3: there is no operator **; write a product, a * a",
		"(a + b) ** 2 < 3": "column 9: there is no operator **; write a product, (a + b) * (a " +
			"+ b)",
		"!(a = 1)":            "column 1: ! stands alone; write not, as in not (...)",
		"a=6 and !b":          "column 9: ! stands alone; write not, as in not (...)",
		"seconds > 1x":        "column 11: \"1x\" is not a duration; write 90m",
		"1x < seconds":        "column 1: \"1x\" is not a duration; write 90m",
		"seconds in [1h, 1x]": "column 17: \"1x\" is not a duration; write 90m",
		"a b": "column 3: a comparison is missing after a; " + compare +
			", or a = true if it is a boolean",
		"(a b)": "column 4: a comparison is missing after a; " + compare +
			", or a = true if it is a boolean",
		"a and b=1": "column 3: a comparison is missing after a; " + compare +
			", or a = true if it is a boolean",
		"b=1 or a": "column 9: a comparison is missing after a; " + compare +
			", or a = true if it is a boolean",
		"not a": "column 6: a comparison is missing after a; " + compare +
			", or a = true if it is a boolean",
		"a + b": "column 6: a comparison is missing after b; " + compare,
		"a not b": "column 3: a comparison is missing after a; write not before it, or " +
			"not in",
		"(a=6":      "column 1: this ( is never closed; add a )",
		"(a":        "column 1: this ( is never closed; add a )",
		"(a=6 x":    "column 6: unexpected \"x\"; join comparisons with and, or",
		"a=6)":      `column 4: unexpected ")"; join comparisons with and, or`,
		"1 < a < 9": `column 7: unexpected "<"; join comparisons with and, or`,
		"(a=6)=1":   `column 6: unexpected "="; join comparisons with and, or`,
		"a=(b=4)": "column 2: = needs a value, and a comparison follows it; write a " +
			"value there",
		"a + (b=4)": "column 3: + needs a value, and a comparison follows it; write a " +
			"value there",
		"x=1":             "column 1: there is no column x; write another",
		"a=1 or x*2":      "column 8: there is no column x; write another",
		"x * a < 1":       "column 1: there is no column x; write another",
		"a * x < 1":       "column 5: there is no column x; write another",
		"x < a":           "column 1: there is no column x; write another",
		"x=<":             "column 1: there is no column x; write another",
		"a=1 or 'x' in [": "column 8: there is no column x; write another",
		"x~":              "column 1: there is no column x; write another",
		"x~'":             "column 1: there is no column x; write another",
		"'a'=":            "column 5: a value is missing after =; " + value,
		"1 < 2":           "column 1: there is no column 1; write another",
		"'x' = 2":         "column 1: there is no column x; write another",
		"a = `x`":         "column 5: there is no column x; write another",
		"'a' * 2 < 3":     `column 1: "a" is text, and * needs a number; write a name that needs quotes in backquotes`,
		"min(a, 'b') = 1": `column 8: "b" is text, and min needs a number; write a name that needs quotes in backquotes`,
		"a-b < 3":         `column 1: "a-b" is one word; ` + spaces,
		"lr < a/b":        `column 6: "a/b" is one word; ` + spaces,
		"lr < a/2":        `column 6: "a/2" is one word; ` + spaces,
		"lr = -a":         `column 6: "-a" is one word; ` + spaces,
		"a * b-1 < 3":     `column 5: "b-1" is one word; ` + spaces,
		"sqrt(a) = 1":     `column 1: there is no function "sqrt"; the functions are abs, log, log10, log2, max, min`,
		"log() = 1":       "column 5: a value is missing after (; " + value,
		"log(a, b) = 1":   "column 1: log takes one value; write log(a)",
		"max(a) = 1":      "column 1: max takes at least two values; write max(a, b)",
		"max(a b) = 1":    `column 7: unexpected "b"; write a comma between values`,
		"max(a, b = 1":    `column 10: unexpected "="; write a comma between values`,
		"max(a, b":        "column 4: this ( is never closed; add a )",
		"a in 1":          "column 6: a list is missing after in; write one, such as in [1, 2]",
		"a in [1, 2":      "column 6: this [ is never closed; add a ]",
		"a in []":         "column 7: a value is missing after [; " + value,
		"a in [1,]":       "column 9: a value is missing after ,; " + value,
		"a~'[x'": "column 3: missing closing ]: `[x`; write a regular expression as in " +
			"Go (RE2)",
		"a~":              "column 3: a value is missing after ~; " + value,
		"a ! 3":           "column 3: ! stands alone; write != or !~, or the word not",
		"a=1 or b = 'fai": "column 12: this ' is never closed; add a '",
		"a=1 && b=1":      `column 5: unexpected "&&"; join comparisons with and, or`,
		strings.Repeat("(",
			1000): "column 102: the expression is nested too deep; use at most 100 levels",
		"a = " + strings.Repeat("- ", 1000) +
			"1": "column 207: the expression is nested too deep; use at most 100 levels",
		strings.Repeat("x", 10001): "column 1: the expression is too long; use at most 10000 bytes",
	} {
		_, err := expr.Parse(expression, row)
		var wrong *expr.Error
		if !errors.As(err, &wrong) {
			t.Errorf("%.40s: got %v, want an *Error", expression, err)
		} else if err.Error() != want {
			t.Errorf("%.40s:\n got %s\nwant %s", expression, err, want)
		}
	}
}

func TestUnknownNamesAreTold(t *testing.T) {
	t.Parallel()
	for expression, want := range map[string]string{"x=1": "x", "a * x=1": "x", "b=`y z`": "y z",
		"a-b=1": "a-b", "a=a-b": "a-b", "a=": ""} {
		_, err := expr.Parse(expression, row)
		var wrong *expr.Error
		if !errors.As(err, &wrong) || wrong.Unknown != want {
			t.Errorf("%s: got %+v, want the unknown name %q", expression, wrong, want)
		}
	}
}

func TestMatchRefusesWhatIsSuspicious(t *testing.T) {
	t.Parallel()
	const together = "compare two numbers or two texts, or use = or !="
	for expression, want := range map[string]string{
		"a * b = 24": "true", "a * b = 25": "false", "": "true", "optimizer < x": "true",
		"none < 1": "false", "broken < 1": "false",
		"optimizer = 1": "false", "optimizer != 1": "true", "optimizer in [1, x]": "false",
		"none + 1 = 2": "false", "none + 1 not in [2]": "false",
		"zero != 0 and a / zero = 1": "false", "zero = 0 or a / zero = 1": "true",
		"a / zero = 1": "column 3: division by zero: zero is 0; put a condition " +
			"such as x != 0 and before it",
		"a=6 and not a % (b - 4) = 0": "column 15: division by zero: b - 4 is 0; put a " +
			"condition such as x != 0 and before it",
		"a / zero not in [1]": "column 3: division by zero: zero is 0; put a condition " +
			"such as x != 0 and before it",
		"log(zero) < 1": "column 5: log of 0, which is not positive; put a " +
			"condition such as x > 0 and before it",
		"log10(a - 7) < 1": "column 9: log10 of -1, which is not positive; put a " +
			"condition such as x > 0 and before it",
		"2 * optimizer < 1":      `column 5: optimizer is "sgd", which is text; arithmetic needs numbers`,
		"a < 1 or optimizer < 3": `column 10: optimizer is "sgd", which is text, and < compares it with a number; ` + together,
		"3 >= optimizer":         `column 6: optimizer is "sgd", which is text, and >= compares it with a number; ` + together,
		"a + 1 > 'big'": `column 9: 'big' is text, and > compares it with a number; ` +
			together,
		"a / zero = 1 or 2 * adam = 1": "column 3: division by zero: zero is 0; put a condition " +
			"such as x != 0 and before it",
	} {
		e, err := expr.Parse(expression, row)
		if err != nil {
			t.Errorf("%s: %v", expression, err)
			continue
		}
		holds, err := e.Match(row.get)
		got := map[bool]string{true: "true", false: "false"}[holds]
		if err != nil {
			if got = err.Error(); holds {
				t.Errorf("%s holds in spite of %v", expression, err)
			}
		}
		if got != want {
			t.Errorf("%s:\n got %s\nwant %s", expression, got, want)
		}
	}
}

func TestSlotsAndConditions(t *testing.T) {
	t.Parallel()
	e, err := expr.Parse(
		"b * a < lr and (a = 1 or optimizer in [x, adam]) and not (id ~ x and a = 1)", row)
	if err != nil {
		t.Fatal(err)
	}
	var parts []string
	for _, c := range e.Conditions() {
		var names []string
		for _, s := range c.Slots() {
			names = append(names, row.names()[s])
		}
		parts = append(parts, c.String()+" looks at "+strings.Join(names, " "))
	}
	want := []string{"b * a < lr looks at a b lr",
		"a = 1 or optimizer in ['x', adam] looks at a adam optimizer",
		"not (id ~ 'x' and a = 1) looks at a id"}
	if !slices.Equal(parts, want) {
		t.Errorf("got %q\nwant %q", parts, want)
	}
	if none := new(expr.Expr); len(none.Slots()) != 0 || len(none.Conditions()) != 0 ||
		!none.Holds(row.get) {
		t.Error("the zero Expr always holds")
	}
}

func TestValues(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		value expr.Value
		kind  expr.Kind
		text  string
	}{
		{expr.ValueOf("0.10"), expr.Number, "0.10"}, {expr.ValueOf("-1e-3"), expr.Number, "-1e-3"},
		{expr.ValueOf(""), expr.Text, ""},
		{expr.ValueOf("1-2"), expr.Text, "1-2"}, {expr.ValueOf("inf"), expr.Text, "inf"},
		{expr.ValueOf("1e999"), expr.Text, "1e999"},
		{expr.ValueOf("+nan"), expr.Text, "+nan"}, {expr.NumberOf(0.5), expr.Number, "0.5"},
		{expr.NumberOf(1e21), expr.Number, "1e+21"},
		{expr.NumberOf(math.Inf(-1)), expr.Number, "-inf"}, {expr.NumberOf(math.NaN()), expr.NaN,
			"nan"}, {expr.Value{}, expr.Absent, ""},
	} {
		if tt.value.Kind != tt.kind || tt.value.String() != tt.text {
			t.Errorf("got kind %d, text %q, want %d, %q", tt.value.Kind, tt.value, tt.kind, tt.text)
		}
	}
}
