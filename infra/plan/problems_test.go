package plan_test

import (
	"testing"

	"mlframework/infra/plan"
)

// Problems with the same remedy stand above it, together; hosts are named when there are several.
func TestProblemsShareARemedy(t *testing.T) {
	t.Parallel()
	all := plan.Problems{
		{Host: "gpu1", What: "its disk is full", Remedy: "free some space"},
		{Host: "gpu2", What: "no Docker", Remedy: "install it"},
		{Host: "gpu3", What: "odd"},
		{Host: "gpu4", What: "its disk is full", Remedy: "free some space"},
		{Host: "gpu4", What: "its other disk is full", Remedy: "free some space"},
	}
	want := `gpu1: its disk is full
gpu4: its disk is full
gpu4: its other disk is full
    gpu1, gpu4: free some space
gpu2: no Docker
    install it
gpu3: odd`
	if got := all.Error(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
