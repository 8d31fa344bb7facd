package docker

import (
	"context"
	"errors"
	"time"

	"github.com/docker/docker/api/types/container"
)

// A container is named by its name or its id in all of these; one that is not there is a Fault of the kind NotFound.

// Start starts a container that is made or stopped; on one that runs it does nothing. PortTaken and NoToolkit come from here.
func (e *Engine) Start(ctx context.Context, name string) error {
	return e.fail("start container "+name, e.api.ContainerStart(ctx, name, container.StartOptions{}))
}

// Stop asks the container to end (SIGTERM), and kills it after the grace, which is rounded up to seconds; a negative one is that of its
// Spec. It returns when the container has ended, and does nothing on one that does not run.
func (e *Engine) Stop(ctx context.Context, name string, grace time.Duration) error {
	return e.fail("stop container "+name, e.api.ContainerStop(ctx, name, stopping(grace)))
}

// Restart is Stop and Start in one.
func (e *Engine) Restart(ctx context.Context, name string, grace time.Duration) error {
	return e.fail("restart container "+name, e.api.ContainerRestart(ctx, name, stopping(grace)))
}

func stopping(grace time.Duration) container.StopOptions {
	if grace < 0 {
		return container.StopOptions{}
	}
	seconds := int((grace + time.Second - 1) / time.Second)
	return container.StopOptions{Timeout: &seconds}
}

// Kill sends a signal, such as "SIGHUP"; "" is SIGKILL. One that does not run is a Conflict.
func (e *Engine) Kill(ctx context.Context, name, signal string) error {
	return e.fail("kill container "+name, e.api.ContainerKill(ctx, name, signal))
}

// Remove removes a container, whatever its state, with the volumes that have no name. Other volumes stay.
func (e *Engine) Remove(ctx context.Context, name string) error {
	err := e.api.ContainerRemove(ctx, name, container.RemoveOptions{Force: true, RemoveVolumes: true})
	return e.fail("remove container "+name, err)
}

// Wait waits until a container does not run, and gives its exit code. One that was never started has 0.
func (e *Engine) Wait(ctx context.Context, name string) (code int, err error) {
	ended, failed := e.api.ContainerWait(ctx, name, container.WaitConditionNotRunning)
	select { // not on ctx: the client's goroutine has to hand over what it has, and it ends with ctx
	case err := <-failed:
		return 0, e.fail("wait for container "+name, err)
	case end := <-ended:
		if end.Error != nil {
			return 0, e.fail("wait for container "+name, errors.New(end.Error.Message))
		}
		return int(end.StatusCode), nil
	}
}
