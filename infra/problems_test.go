package infra_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/infra"
	"mlframework/infra/docker"
	"mlframework/infra/plan"
	"mlframework/infra/remote"
)

func TestProblemsTellHostsThatAreAwayFromThoseThatAnswer(t *testing.T) {
	t.Parallel()
	_, noDocker := docker.Open(t.Context(), docker.Host{Name: "gpu3",
		Dial: func(context.Context) (net.Conn, error) {
			return nil, &remote.Error{Host: "gpu3", Op: "open the socket", Kind: remote.Refused,
				Cause: "refused"}
		}})
	if noDocker == nil {
		t.Fatal("Docker was reached")
	}
	lost := &remote.Error{Host: "gpu2", Op: "run on gpu2", Kind: remote.Lost, Cause: "it is gone",
		Remedy: "wait"}
	want := plan.Problems{
		{Host: "gpu1", What: "odd"},
		{Host: "gpu2", What: "run on gpu2: it is gone", Remedy: "wait", Unreached: true},
		{Host: "gpu3", What: noDocker.Error()},
	}
	got := infra.Problems(map[string]error{"gpu3": noDocker, "gpu1": errors.New("odd"),
		"gpu2": fmt.Errorf("ask: %w", lost)})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
