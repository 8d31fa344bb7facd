package docker

import (
	"context"
	"time"

	"github.com/docker/docker/api/types/container"
)

// A container is named by its name or its id in all of these; one that is not there is a Fault of
// the kind NotFound.

// Start starts a container that is made or stopped; on one that runs it does nothing. PortTaken and
// NoToolkit come from here.
func (e *Engine) Start(ctx context.Context, name string) error {
	return e.fail("start container "+name, e.api.ContainerStart(ctx, name,
		container.StartOptions{}))
}

// Stop asks the container to end (SIGTERM), and kills it after the grace, which is rounded up to
// seconds; a negative one is that of its Spec. It returns when the container has ended, and does
// nothing on one that does not run.
func (e *Engine) Stop(ctx context.Context, name string, grace time.Duration) error {
	return e.fail("stop container "+name, e.api.ContainerStop(ctx, name, stopping(grace)))
}

func stopping(grace time.Duration) container.StopOptions {
	if grace < 0 {
		return container.StopOptions{}
	}
	seconds := int((grace + time.Second - 1) / time.Second)
	return container.StopOptions{Timeout: &seconds}
}

// Rename gives a container another name. Conflict when another has that; its own is an
// error, too.
func (e *Engine) Rename(ctx context.Context, name, to string) error {
	return e.fail("rename container "+name+" to "+to, e.api.ContainerRename(ctx, name, to))
}

// Remove removes a container, whatever its state, with the volumes that have no name. Other volumes
// stay.
func (e *Engine) Remove(ctx context.Context, name string) error {
	err := e.api.ContainerRemove(ctx, name, container.RemoveOptions{Force: true,
		RemoveVolumes: true})
	return e.fail("remove container "+name, err)
}
