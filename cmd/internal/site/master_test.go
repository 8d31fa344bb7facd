package site_test

import (
	"errors"
	"fmt"
	"testing"

	"mlframework/cmd/internal/cli"
	"mlframework/cmd/internal/site"
	"mlframework/infra/remote"
)

// A host on which no master runs is one that cannot be reached, for every command.
func TestNoMasterOnItsHost(t *testing.T) {
	t.Parallel()
	none := &remote.Error{Host: "gpu1", Op: "reach the master on gpu1", Kind: remote.Refused,
		Cause: "no master runs there: infrainit -f starts it"}
	err := site.ExplainMaster(fmt.Errorf("ask the master at its host: %w", none), "run-tasks")
	const want = "reach the master on gpu1: no master runs there: infrainit -f starts it"
	e, worded := errors.AsType[*cli.Error](err)
	if !worded || e.Code != cli.Unreachable || e.Error() != want {
		t.Errorf("%v", err)
	}
}
