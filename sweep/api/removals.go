package api

import (
	"context"
	"net/http"

	"mlframework/sweep/core"
)

// MostPruned is how many ranges of tasks one call can have.
const MostPruned = 10_000

// PrunedTasks are tasks of a sweep whose outputs are meant.
type PrunedTasks struct {
	Tasks core.Ranges `json:"tasks"`
}

// OutputSize is how large outputs are.
type OutputSize struct {
	Bytes int64 `json:"bytes"` // as far as that is known
}

// Prune has the outputs of tasks of a sweep that has ended removed. Their rows stay.
func (c *Client) Prune(ctx context.Context, id string, tasks core.Ranges) (s core.Summary,
	err error) {
	return s, c.write(ctx, http.MethodPost, sweepPath(id)+"/prune", nil, PrunedTasks{tasks}, &s)
}

// Size returns the size of the outputs of tasks, as far as it is known.
func (c *Client) Size(ctx context.Context, id string, tasks core.Ranges) (bytes int64, err error) {
	text, err := encode(PrunedTasks{tasks})
	if err != nil {
		return 0, err
	}
	var size OutputSize
	_, err = c.exchange(ctx, "", http.MethodPost, sweepPath(id)+"/size", nil, text, &size)
	return size.Bytes, err
}

// Removal is outputs that a worker is still to remove.
type Removal struct {
	Sweep  string  `json:"sweep"`
	Worker string  `json:"worker"`
	Reason *string `json:"reason"` // why not yet: the worker is away; null: it was not tried yet
}

// RemovalList answers a question for removals.
type RemovalList struct {
	Removals []Removal `json:"removals"`
}

// Remove takes a sweep out of the list, and has its outputs removed on all hosts.
func (c *Client) Remove(ctx context.Context, id string) error {
	return c.write(ctx, http.MethodDelete, sweepPath(id), nil, nil, nil)
}

// Removals lists the outputs that workers are still to remove.
func (c *Client) Removals(ctx context.Context) ([]Removal, error) {
	var list RemovalList
	err := c.get(ctx, "/removals", nil, &list)
	return list.Removals, err
}
