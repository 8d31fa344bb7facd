package task_test

import (
	"testing"

	"mlframework/sweep/task"
)

func TestCheckGPUs(t *testing.T) {
	t.Parallel()
	for want, g := range map[string]task.GPUs{
		"": {}, "0.3 is not a number of GPUs: it is whole, up to 64, or 1/n with n up to 16": {
			Count: 0.3},
		"-1 is not a number of GPUs: it is whole, up to 64, or 1/n with n up to 16": {Count: -1},
		"the memory of a GPU is negative":                                           {Count: 1, Memory: -1},
		"memory and name are those of GPUs, and count is 0":                         {Name: "A100"},
		"the name of a GPU is no regular expression: error parsing regexp: missing argument to " +
			"repetition operator: `*`": {Count: 1, Name: "*"},
	} {
		switch err := g.Check(); {
		case (err == nil) != (want == ""), err != nil && err.Error() != want:
			t.Errorf("%v, not %q", err, want)
		}
	}
}
