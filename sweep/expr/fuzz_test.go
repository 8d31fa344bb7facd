package expr_test

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"mlframework/sweep/expr"
)

// FuzzParse: any text is an expression or an error that points into it; an expression can be asked,
// its negation disagrees, and what it prints is itself.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"a * b <= 1000 and (c in [sgd, 'x y'] or not log10(a) < -2)",
		"`a`-1 % 2 != - b", "a~x* or 'c'!~\"\\\"\"", "((((", "!", "not a not in [-(1),2]",
		"a-b=1", "größe<9", "max(a,b/2)>=seconds", "seconds=90m", "min(a,(b))=\\", "in in [in]",
		"`my loss`=nan or inf>a"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		e, err := expr.Parse(text, row)
		if err != nil {
			checkError(t, text, err)
			return
		}
		holds := e.Holds(row.get)
		if matches, err := e.Match(row.get); err != nil {
			checkError(t, text, err)
		} else if matches != holds {
			t.Errorf("%q: Match %t, Holds %t", text, matches, holds)
		}
		printed := e.String()
		if len(printed) > 9000 || strings.TrimSpace(text) == "" {
			return
		}
		again, err := expr.Parse(printed, row)
		if err != nil {
			t.Fatalf("%q is printed as %q: %v", text, printed, err)
		}
		if again.String() != printed || again.Holds(row.get) != holds {
			t.Errorf("%q is printed as %q, and that as %q", text, printed, again)
		}
		negated, err := expr.Parse("not ("+text+")", row)
		if err != nil && len(text) < 9000 && !strings.Contains(err.Error(), "too deep") {
			t.Errorf("not (%s): %v", text, err)
		} else if err == nil && negated.Holds(row.get) == holds {
			t.Errorf("%q and its negation agree", text)
		}
	})
}

func checkError(t *testing.T, text string, err error) {
	t.Helper()
	var wrong *expr.Error
	if !errors.As(err, &wrong) {
		t.Fatalf("error is %T", err)
	}
	if wrong.Column < 1 || wrong.Column > utf8.RuneCountInString(text)+1 {
		t.Errorf("column %d of %q", wrong.Column, text)
	}
	if wrong.Problem == "" || wrong.Remedy == "" {
		t.Errorf("%q: the error says too little: %v", text, err)
	}
}
