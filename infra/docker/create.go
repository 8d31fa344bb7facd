package docker

import (
	"context"
	"errors"

	"github.com/docker/docker/api/types/container"
)

// Create makes a container and does not start it; it gives the id. The image has to be on the host.
//
// Faults: NotFound (image or network), NoSource, Conflict (the name is taken). When it fails
// nothing is left; when it is cancelled just as the engine makes the container, a container in the
// state "created" may be: List finds it.
func (e *Engine) Create(ctx context.Context, s Spec) (id string, err error) {
	op := "create container " + s.Name
	if err := s.check(); err != nil {
		return "", e.fail(op, err)
	}
	r := s.request()
	made, err := e.api.ContainerCreate(ctx, r.config, r.host, r.first, nil, s.Name)
	if err != nil {
		return "", e.fail(op, err)
	}
	for _, n := range s.Networks[min(1, len(s.Networks)):] {
		if err := e.api.NetworkConnect(ctx, n.Name, made.ID, n.endpoint()); err != nil {
			return "", errors.Join(e.fail("join container "+s.Name+" to network "+n.Name, err),
				e.drop(ctx, made.ID))
		}
	}
	return made.ID, nil
}

// Run makes a container and starts it; it gives the id. When the start fails it removes the
// container, which would hold the name: an engine finds only then that a port is taken, or a device
// missing.
//
// Faults: those of Create, PortTaken, NoToolkit.
func (e *Engine) Run(ctx context.Context, s Spec) (id string, err error) {
	id, err = e.Create(ctx, s)
	if err != nil {
		return "", err
	}
	if err := e.api.ContainerStart(ctx, id, container.StartOptions{}); err != nil {
		return "", errors.Join(e.fail("start container "+s.Name, err), e.drop(ctx, id))
	}
	return id, nil
}

// drop removes what this call made, even when the call itself was cancelled. Volumes stay: a name
// may be shared.
func (e *Engine) drop(ctx context.Context, id string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanTimeout)
	defer cancel()
	err := e.Remove(ctx, id)
	if KindOf(err) == NotFound {
		return nil
	}
	return err
}
