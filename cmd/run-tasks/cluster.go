package main

import (
	"context"
	"errors"
	"fmt"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/cmd/internal/site"
	"mlframework/infra"
	"mlframework/infra/filesync"
	"mlframework/projects"
	"mlframework/sweep/core"
	"mlframework/sweep/definition"
	"mlframework/sweep/human"
)

// cluster is the cluster that a remote is reached through; nil for one whose socket is on this machine.
type cluster struct {
	*infra.Cluster
	site *site.Site
	end  func() // of the connection to the master
}

// dialCluster reaches the master of config.yml.
func (c *command) dialCluster(ctx *cliv2.Context) (*remote, error) {
	s, err := site.Read(ctx, true, c.stderr)
	if err != nil {
		return nil, err
	}
	s.Printer.Quiet = ctx.Bool("quiet")
	if file := ctx.String("config"); file != "" {
		c.self = "run-tasks --config " + human.CommandLine([]string{file})
	}
	opened, err := s.Open(ctx.Context)
	if err != nil {
		return nil, err
	}
	dial, end := opened.ReconnectingDial()
	m := c.newRemote(s.Client(dial))
	m.cluster = &cluster{opened, s, end}
	return m, nil
}

// fits refuses to go on where the workers of the cluster are not what tasks.yml of a project says: tasks would run in another image
// than it names, or without a folder. Workers of a master that is reached by its socket run as they were started.
func (m *remote) fits(ctx context.Context, dir string, file *definition.File) error {
	if m.cluster == nil {
		return nil
	}
	workers, err := m.Workers(ctx)
	if err != nil {
		return err
	}
	return m.compare(ctx, dir, file, workers)
}

func (m *remote) compare(ctx context.Context, dir string, file *definition.File, workers []core.Worker) error {
	if m.cluster == nil || file == nil {
		return nil
	}
	drifts, err := site.Drifts(ctx, dir, file, workers)
	if err != nil {
		return projectError(err)
	}
	return site.DriftError(drifts, "nothing was brought or submitted")
}

// bring has every host of the cluster hold the files of a project, and gives them.
func (m *cluster) bring(ctx context.Context, dir string) (*projects.Manifest, error) {
	files, err := projects.Scan(ctx, dir, projects.Options{Cache: site.HashCache(dir)})
	if err != nil {
		return nil, projectError(err)
	}
	if files.Revision() == m.CurrentRevision() {
		return files, nil
	}
	pushed, err := m.Push(ctx, files, false)
	if large, ok := errors.AsType[*filesync.LargeError](err); ok {
		return nil, &cli.Error{Code: cli.Usage, Err: large, Remedy: "update-files --yes brings it"}
	}
	if err != nil {
		return nil, site.Explain(err)
	}
	for _, p := range pushed {
		m.site.Printer.Did(p.Host, fmt.Sprintf("bring the project's files: %d changed", p.Files), p.Took)
	}
	return files, nil
}
