package infra

import (
	"context"
	"sync"

	"mlframework/nvdocker"
)

// GPUs asks hosts of the cluster for their GPUs and the programs that use them, each for a few
// seconds at most. Hosts that do not answer are left out. It must not be called while another
// method of c runs.
func (c *Cluster) GPUs(ctx context.Context, hosts ...string) (map[string]nvdocker.Report, error) {
	if _, err := c.reach(ctx, hosts...); err != nil {
		return nil, err
	}
	var asked []string
	for _, h := range hosts {
		if c.connected[h] != nil {
			asked = append(asked, h)
		}
	}
	var mu sync.Mutex
	found := map[string]nvdocker.Report{}
	c.each(asked, func(m *connectedHost) error {
		return m.ask(ctx, func(ctx context.Context) error {
			m.gpus(ctx)
			mu.Lock()
			defer mu.Unlock()
			found[m.name] = m.found.GPUs
			return nil
		})
	})
	return found, ctx.Err()
}
