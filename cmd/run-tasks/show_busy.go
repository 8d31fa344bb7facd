package main

import (
	"context"
	"slices"
)

// busyGPUs returns who uses the GPUs that a cluster's workers do not give out because programs of
// others run on them, as "gpu1, GPU 0: ben, python (pid 411), 6.0 GB". A worker's container does
// not see those programs, so their hosts are asked over ssh.
func busyGPUs(ctx context.Context, src source) (texts []string, err error) {
	m, is := src.(*remote)
	if !is || m.cluster == nil {
		return nil, nil
	}
	workers, err := m.Workers(ctx)
	if err != nil {
		return nil, err
	}
	busy := map[string][]string{} // UUIDs by host
	var hosts []string
	for _, w := range workers {
		for _, g := range w.GPUs {
			if g.Unavailable != "" && !g.Broken {
				busy[w.Name] = append(busy[w.Name], g.UUID)
			}
		}
		if busy[w.Name] != nil {
			hosts = append(hosts, w.Name)
		}
	}
	if len(hosts) == 0 {
		return nil, nil
	}
	reports, err := m.cluster.GPUs(ctx, hosts...)
	for _, h := range hosts {
		for _, g := range reports[h].GPUs {
			if slices.Contains(busy[h], g.UUID) && g.Busy() != "" {
				texts = append(texts, h+", GPU "+g.Number()+": "+g.Busy())
			}
		}
	}
	return texts, err
}
