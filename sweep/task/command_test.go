package task_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/task"
)

func TestExpand(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ argument, want string }{
		{"", ""},
		{"plain", "plain"},
		{"{host}", "gpu1"},
		{"hello from {host} slot {slot}", "hello from gpu1 slot 3"},
		{"{{host}}", "{host}"},
		{"{{{host}}}", "{gpu1}"},
		{`{{"a": {slot}}}`, `{"a": 3}`},
		{"{slot}{slot}", "33"},
		{"}}{{", "}{"},
		// The reader of definitions refuses these; they stay.
		{"{other} {host}", "{other} gpu1"},
		{"{", "{"},
		{"}", "}"},
		{"{}", "{}"},
		{"{host", "{host"},
		{"{a{host}", "{agpu1"},
	} {
		command := []string{"run", c.argument}
		got := task.Recipe{Command: command}.Expand("gpu1", 3)
		if diff := cmp.Diff([]string{"run", c.want}, got); diff != "" {
			t.Error(diff)
		}
		if command[1] != c.argument {
			t.Error("Expand changed the command")
		}
	}
	if got := (task.Recipe{Command: []string{"{host}"}}).Expand("{slot}", 3); got[0] != "{slot}" {
		t.Errorf("a replacement was replaced again: %s", got)
	}
}
