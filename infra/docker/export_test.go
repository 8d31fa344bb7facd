package docker

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"time"

	"github.com/docker/docker/api/types/container"
)

// Classify gives kind, words and port of what an engine said.
var Classify = classify

// Demultiplex splits a stream of an engine.
var Demultiplex = demultiplex

// UntilReset ends a stream where its connection was reset.
func UntilReset(r io.Reader) io.Reader { return untilReset{r} }

// ReadPull reads what the docker command prints while it pulls.
var ReadPull = readPull

// InspectJSON returns all that the engine knows of a container, as it says it.
func (e *Engine) InspectJSON(ctx context.Context, name string) (json.RawMessage, error) {
	_, raw, err := e.api.ContainerInspectWithRaw(ctx, name, false)
	return raw, e.fail("look at container "+name, err)
}

// Restart is Stop and Start in one.
func (e *Engine) Restart(ctx context.Context, name string, grace time.Duration) error {
	return e.fail("restart container "+name, e.api.ContainerRestart(ctx, name, stopping(grace)))
}

// Kill sends a signal, such as "SIGHUP"; "" is SIGKILL. One that does not run is a Conflict.
func (e *Engine) Kill(ctx context.Context, name, signal string) error {
	return e.fail("kill container "+name, e.api.ContainerKill(ctx, name, signal))
}

// Wait waits until a container does not run, and returns its exit code. One that was never started
// has 0.
func (e *Engine) Wait(ctx context.Context, name string) (code int, err error) {
	ended, failed := e.api.ContainerWait(ctx, name, container.WaitConditionNotRunning)
	// Not on ctx: the client's goroutine has to hand over what it has, and it ends with ctx.
	select {
	case err := <-failed:
		return 0, e.fail("wait for container "+name, err)
	case end := <-ended:
		if end.Error != nil {
			return 0, e.fail("wait for container "+name, errors.New(end.Error.Message))
		}
		return int(end.StatusCode), nil
	}
}
