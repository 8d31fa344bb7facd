package docker

import (
	"context"
	"slices"
	"strings"

	"github.com/docker/docker/api/types/volume"
)

// Volume is a named volume.
type Volume struct {
	Name   string
	Labels map[string]string
}

// CreateVolume makes a volume on the host's disk. One of that name that is there stays as it is,
// with the labels it has.
func (e *Engine) CreateVolume(ctx context.Context, v Volume) error {
	_, err := e.api.VolumeCreate(ctx, volume.CreateOptions{Name: v.Name, Labels: v.Labels})
	return e.fail("create volume "+v.Name, err)
}

// ListVolumes gives the volumes that have all the labels, sorted by name. An empty value stands for
// any.
func (e *Engine) ListVolumes(ctx context.Context, labels map[string]string) ([]Volume, error) {
	raw, err := e.api.VolumeList(ctx, volume.ListOptions{Filters: labelled(labels)})
	if err != nil {
		return nil, e.fail("list volumes", err)
	}
	var all []Volume
	for _, v := range raw.Volumes {
		all = append(all, Volume{Name: v.Name, Labels: v.Labels})
	}
	slices.SortFunc(all, func(a, b Volume) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// RemoveVolume removes a volume and what is in it. Conflict while a container has it, running or
// not.
func (e *Engine) RemoveVolume(ctx context.Context, name string) error {
	return e.fail("remove volume "+name, e.api.VolumeRemove(ctx, name, false))
}
