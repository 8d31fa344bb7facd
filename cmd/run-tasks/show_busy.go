package main

import (
	"context"
	"slices"

	"mlframework/cmd/internal/cli"
	"mlframework/cmd/run-tasks/local"
)

// busyGPUs returns who uses the GPUs that get no tasks because programs of others run on them, as
// "gpu1, GPU 0: ben, python (pid 411), 6.0 GB". A worker's container does not see those programs,
// so the hosts of a cluster are asked over ssh.
func busyGPUs(ctx context.Context, src source) (texts []string, err error) {
	m, is := src.(*remote)
	switch {
	case !is:
		return busyHere(ctx), nil
	case m.cluster == nil:
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

// busyHere returns why GPUs of this machine get no tasks, as the runner of this folder knows.
func busyHere(ctx context.Context) (texts []string) {
	if !local.Alive() {
		return nil
	}
	ctx, stop := context.WithTimeout(ctx, runnerTime)
	defer stop()
	client := local.Dial()
	defer client.Close()
	workers, err := client.Workers(ctx)
	if err != nil {
		return nil // the runner may just end
	}
	for _, w := range workers {
		for _, g := range w.GPUs {
			if g.Unavailable != "" {
				texts = append(texts, "GPU "+g.Index+": "+cli.Visible(g.Unavailable))
			}
		}
	}
	return texts
}
