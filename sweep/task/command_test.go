package task_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/task"
)

func TestExpand(t *testing.T) {
	t.Parallel()
	for argument, want := range map[string]struct{ text, bad string }{
		"":                  {"", ""},
		"plain":             {"plain", ""},
		"{host}":            {"gpu1", ""},
		"a{slot}b{host}c":   {"a3bgpu1c", ""},
		"{host}{slot}":      {"gpu13", ""},
		"{{host}}":          {"{host}", ""},
		"{{{host}}}":        {"{gpu1}", ""},
		"{{}}":              {"{}", ""},
		"{{{{":              {"{{", ""},
		"ü{host}ü":          {"ügpu1ü", ""},
		"{Host}":            {"{Host}", "{Host}"},
		"{ host }":          {"{ host }", "{ host }"},
		"{}":                {"{}", "{}"},
		"{":                 {"{", "{"},
		"}":                 {"}", "}"},
		"a{b":               {"a{b", "{"},
		"{host":             {"{host", "{"},
		"host}":             {"host}", "}"},
		"{host}}":           {"gpu1}", "}"},
		"{a{host}":          {"{agpu1", "{"},
		"{x}{y}":            {"{x}{y}", "{x}"},
		`{"json": [1, {}]}`: {`{"json": [1, {}]}`, "{"},
	} {
		r := task.Recipe{Command: []string{argument, "{slot}"}}
		if diff := cmp.Diff([]string{want.text, "3"}, r.Expand("gpu1", 3)); diff != "" {
			t.Errorf("%s: -want +got:\n%s", argument, diff)
		}
		if got := task.BadBraces(argument); got != want.bad {
			t.Errorf("%s: the bad piece is %q, want %q", argument, got, want.bad)
		}
	}
	r := task.Recipe{Command: []string{"{host}"}}
	if got := r.Expand("{slot}", 3); got[0] != "{slot}" || r.Command[0] != "{host}" {
		t.Errorf("got %v; the recipe has %v", got, r.Command)
	}
}

// FuzzExpand: text with its braces doubled comes out as it was.
func FuzzExpand(f *testing.F) {
	for _, seed := range []string{"", "{host}", "{{", "}{", "ü{"} {
		f.Add(seed)
	}
	double := strings.NewReplacer("{", "{{", "}", "}}")
	f.Fuzz(func(t *testing.T, text string) {
		_ = task.Recipe{Command: []string{text}}.Expand("h", 1)
		doubled := double.Replace(text)
		if got := (task.Recipe{Command: []string{doubled}}).Expand("h", 1)[0]; got != text || task.BadBraces(doubled) != "" {
			t.Errorf("%q became %q, bad %q", doubled, got, task.BadBraces(doubled))
		}
	})
}
