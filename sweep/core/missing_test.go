package core_test

import (
	"testing"

	"mlframework/sweep/core"
)

// However many tasks workers make up, so many are remembered.
func TestMissingIsBounded(t *testing.T) {
	t.Parallel()
	if n := core.Noted(5, core.MostMissing); n != core.MostMissing {
		t.Errorf("%d tasks are remembered; want %d", n, core.MostMissing)
	}
}
