package task_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/space"
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
		"{Host}":            {"{Host}", ""},
		"{ host }":          {"{ host }", ""},
		"{}":                {"{}", "{}"},
		"{":                 {"{", "{"},
		"}":                 {"}", "}"},
		"a{b":               {"a{b", "{"},
		"{host":             {"{host", "{"},
		"host}":             {"host}", "}"},
		"{host}}":           {"gpu1}", "}"},
		"{a{host}":          {"{agpu1", "{"},
		"{x}{y}":            {"{x}{y}", ""},
		`{"json": [1, {}]}`: {`{"json": [1, {}]}`, "{"},
	} {
		r := task.Recipe{Command: []string{argument, "{slot}"}}
		if diff := cmp.Diff([]string{want.text, "3"},
			r.ExpandCommand(task.PlaceholderValues{Host: "gpu1", Slot: "3"}, nil)); diff != "" {
			t.Errorf("%s: -want +got:\n%s", argument, diff)
		}
		if got := task.BadBraces(argument); got != want.bad {
			t.Errorf("%s: the bad piece is %q, want %q", argument, got, want.bad)
		}
	}
	r := task.Recipe{Command: []string{"{host}"}}
	if got := r.ExpandCommand(task.PlaceholderValues{Host: "{slot}", Slot: "3"},
		nil); got[0] != "{slot}" || r.Command[0] != "{host}" {
		t.Errorf("got %v; the recipe has %v", got, r.Command)
	}
}

func TestExpandParameters(t *testing.T) {
	t.Parallel()
	of := []space.Assignment{{Name: "lr", Value: "1e-3"}, {Name: "model.name", Value: "{host}"},
		{Name: "big", Value: "True", Kind: space.Switch}, {Name: "slot", Value: "x"}}
	at := task.PlaceholderValues{Host: "gpu1", Slot: "3", Index: "7", Task: "a-1/7"}
	for argument, want := range map[string]struct{ text, bound, named string }{
		"{lr}":                 {"1e-3", "1e-3", "lr"},
		"--name={model.name}":  {"--name={host}", "--name={{host}}", "model.name"},
		"{big}{lr}{big}":       {"True1e-3True", "True1e-3True", "big lr"},
		"{slot}":               {"3", "{slot}", ""},
		"{{lr}}":               {"{lr}", "{{lr}}", ""},
		"{index} {task}":       {"7 a-1/7", "{index} {task}", ""},
		"{output}/x":           {"{output}/x", "{output}/x", ""},
		"{nobody} {lr":         {"{nobody} {lr", "{nobody} {lr", "nobody"},
		"a{{{lr}}}":            {"a{1e-3}", "a{{1e-3}}", "lr"},
		"{model.name}{{{slot}": {"{host}{3", "{{host}}{{{slot}", "model.name"},
	} {
		r := task.Recipe{Command: []string{argument}, Env: map[string]string{"V": argument}}
		if got := r.ExpandCommand(at, of)[0]; got != want.text {
			t.Errorf("%s: %s, want %s", argument, got, want.text)
		}
		if got := r.ExpandEnv(at, of)["V"]; got != argument {
			t.Errorf("%s: a variable of records before became %s", argument, got)
		}
		r.EnvBraces = true
		if got := r.ExpandEnv(at, of)["V"]; got != want.text {
			t.Errorf("%s: a variable became %s, want %s", argument, got, want.text)
		}
		bound := task.BindParameters(argument, of)
		if bound != want.bound {
			t.Errorf("%s: bound %s, want %s", argument, bound, want.bound)
		}
		if got := (task.Recipe{Command: []string{bound}}).ExpandCommand(at,
			nil)[0]; got != want.text && want.named != "nobody" {
			t.Errorf("%s: bound and expanded %s, want %s", argument, got, want.text)
		}
		if got := strings.Join(r.ParameterNames(), " "); got != want.named {
			t.Errorf("%s: names %q, want %q", argument, got, want.named)
		}
	}
}

// FuzzExpand: text with its braces doubled comes out as it was, and what is bound first expands to
// the same.
func FuzzExpand(f *testing.F) {
	for _, seed := range []string{"", "{host}", "{{", "}{", "ü{", "{lr}", "{{{lr}}", "{index}{x.y}",
		"{}"} {
		f.Add(seed, "0.1")
	}
	f.Add("{lr}", "{host}")
	f.Fuzz(func(t *testing.T, text, value string) {
		at, of := task.PlaceholderValues{Host: "h", Slot: "1"},
			[]space.Assignment{{Name: "lr", Value: value}}
		expand := func(text string) string {
			return task.Recipe{Command: []string{text}}.ExpandCommand(at, of)[0]
		}
		escaped := task.Escape(text)
		if got := expand(escaped); got != text || task.BadBraces(escaped) != "" ||
			task.ParameterNames(escaped) != nil {
			t.Errorf("%q became %q, bad %q", escaped, got, task.BadBraces(escaped))
		}
		if task.BadBraces(text) != "" {
			return
		}
		if got, want := expand(task.BindParameters(text, of)), expand(text); got != want {
			t.Errorf("%q: bound and expanded %q, want %q", text, got, want)
		}
		if len(task.ParameterNames(text)) == 0 && task.BindParameters(text, of) != text {
			t.Errorf("%q has no names, and is bound to %q", text, task.BindParameters(text, of))
		}
	})
}
