package docker

import (
	"context"
	"slices"
	"strings"

	"github.com/docker/docker/api/types/network"
)

// Bridge is a network of one host.
type Bridge struct {
	ID       string // of one that was found
	Name     string
	Labels   map[string]string
	Internal bool // nothing leads out of it, and no port of its containers is published
}

// CreateNetwork makes a network. Conflict when the name is taken.
func (e *Engine) CreateNetwork(ctx context.Context, b Bridge) (id string, err error) {
	made, err := e.api.NetworkCreate(ctx, b.Name, network.CreateOptions{Driver: "bridge",
		Internal: b.Internal, Labels: b.Labels})
	return made.ID, e.fail("create network "+b.Name, err)
}

// ListNetworks gives the bridge networks that have all the labels, sorted by name. An empty value
// stands for any.
func (e *Engine) ListNetworks(ctx context.Context, labels map[string]string) ([]Bridge, error) {
	f := labelled(labels)
	f.Add("driver", "bridge")
	raw, err := e.api.NetworkList(ctx, network.ListOptions{Filters: f})
	if err != nil {
		return nil, e.fail("list networks", err)
	}
	var all []Bridge
	for _, n := range raw {
		all = append(all, Bridge{ID: n.ID, Name: n.Name, Labels: n.Labels, Internal: n.Internal})
	}
	slices.SortFunc(all, func(a, b Bridge) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// RemoveNetwork removes a network by name or id. One that containers still use is refused.
func (e *Engine) RemoveNetwork(ctx context.Context, name string) error {
	return e.fail("remove network "+name, e.api.NetworkRemove(ctx, name))
}
