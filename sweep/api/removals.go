package api

import (
	"context"
	"net/http"
)

// Removal is the outputs of a removed sweep that a worker is still to remove.
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

// Removals lists the outputs of removed sweeps that workers are still to remove.
func (c *Client) Removals(ctx context.Context) ([]Removal, error) {
	var list RemovalList
	err := c.get(ctx, "/removals", nil, &list)
	return list.Removals, err
}
