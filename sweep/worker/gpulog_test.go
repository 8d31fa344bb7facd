package worker_test

import (
	"testing"

	"mlframework/sweep/worker"
)

// What has changed of GPUs is told in a line each of what is lost and what is there.
func TestDescribeGPUChanges(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		changes         [][2]string
		lost, available string
	}{
		{nil, "", ""},
		{[][2]string{{"1", "busy: ben"}}, "GPU 1 is not given to tasks: busy: ben", ""},
		{[][2]string{{"0", "it hangs"}, {"1", "it hangs"}},
			"GPUs 0, 1 are not given to tasks: it hangs", ""},
		{[][2]string{{"0", ""}, {"1", "busy: ben"}, {"2:0", "it hangs"}, {"3", "busy: ben"}},
			"GPUs 1, 3 are not given to tasks: busy: ben; GPU 2:0: it hangs",
			"GPU 0 is available"},
		{[][2]string{{"0", ""}, {"1", ""}}, "", "GPUs 0, 1 are available"},
	} {
		lost, available := worker.DescribeGPUChanges(c.changes)
		if lost != c.lost || available != c.available {
			t.Errorf("%v: %q, %q", c.changes, lost, available)
		}
	}
}
