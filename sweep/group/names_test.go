package group_test

import (
	"slices"
	"testing"

	"mlframework/sweep/group"
)

func TestNames(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"":                      {},
		" , ,":                  {},
		"lr":                    {"lr"},
		" lr , unit,":           {"lr", "unit"},
		"`a,b`,lr":              {"a,b", "lr"},
		"lr, `a,b` ":            {"lr", "a,b"},
		"my metric, lr=, train": {"my metric", "lr=", "train"},
		"it`s":                  {"it`s"},
		"` x `,`it\\`s\\\\`":    {" x ", "it`s\\"},
	} {
		got, err := group.Names(text)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %q, %v, want %q", text, got, err, want)
		}
		again, err := group.Names(group.JoinNames(want))
		if err != nil || !slices.Equal(again, want) {
			t.Errorf("%q: %q is read as %q, %v", want, group.JoinNames(want), again, err)
		}
	}
	for text, want := range map[string]string{
		"lr,`a,b": "the ` before \"a,b\" is never closed; write `NAME`",
		"`a,b`c":  "\"c\" stands behind the name `a,b`; write a comma between names",
	} {
		if names, err := group.Names(text); err == nil || err.Error() != want {
			t.Errorf("%q: %q, %v, want %s", text, names, err, want)
		}
	}
}
