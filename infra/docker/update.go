package docker

import (
	"context"

	"github.com/docker/docker/api/types/container"
)

// Limits are those of a container that can change while it runs. Zero leaves one as it is.
type Limits struct{ Memory, Pids int64 }

// Update gives a container other limits, whether it runs or not. NotFound when it is not there.
func (e *Engine) Update(ctx context.Context, name string, l Limits) error {
	// as the engine has it by itself
	r := container.Resources{Memory: l.Memory, MemorySwap: 2 * l.Memory}
	if l.Pids > 0 {
		r.PidsLimit = &l.Pids
	}
	_, err := e.api.ContainerUpdate(ctx, name, container.UpdateConfig{Resources: r})
	return e.fail("change the limits of container "+name, err)
}
