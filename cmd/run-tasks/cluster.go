package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/cmd/internal/site"
	"mlframework/cmd/run-tasks/project"
	"mlframework/infra"
	"mlframework/infra/filesync"
	"mlframework/projects"
	"mlframework/sweep/core"
	"mlframework/sweep/definition"
	"mlframework/sweep/human"
)

// cluster is the cluster that a remote is reached through; nil for one whose socket is on this
// machine.
type cluster struct {
	*infra.Cluster
	site *site.Site
	end  func() // of the connection to the master

	fetching sync.Mutex // held while outputs are fetched from hosts for logs
}

// fetchConnectTime is how long a host may take to let fetch in, as with check-status.
const fetchConnectTime = 5 * time.Second

// dialCluster reaches the master of cluster.yml.
func (c *command) dialCluster(ctx *cliv2.Context) (*remote, error) {
	s, err := site.ReadFrom(cli.FileSource(ctx), c.stderr)
	if err != nil {
		return nil, err
	}
	s.Printer.Quiet = ctx.Bool("quiet")
	if file := ctx.String("config"); file != "" {
		c.self = "run-tasks --config " + human.CommandLine([]string{file})
	}
	if ctx.Command.Name == "fetch" { // the other hosts' outputs do not wait for one that is off
		s.Hurry(fetchConnectTime)
	}
	opened, err := s.Open(ctx.Context)
	if err != nil {
		return nil, err
	}
	dial, end := opened.ReconnectingDial()
	m := c.newRemote(s.Client(dial))
	m.cluster = &cluster{Cluster: opened, site: s, end: end}
	return m, nil
}

// compare refuses to go on where workers of the cluster are not what tasks.yml of a project says:
// tasks would run in another image than it names, or without a folder.
func (m *remote) compare(ctx context.Context, dir string, file *definition.File,
	workers []core.Worker) error {
	if m.cluster == nil || file == nil {
		return nil
	}
	drifts, err := site.Drifts(ctx, dir, file, workers)
	if err != nil {
		return project.FilesError(err)
	}
	return site.DriftError(drifts, dir, m.cluster.site.Config.Options.Project,
		"nothing was brought or submitted")
}

// bring has the hosts of the cluster hold the files of a project, and gives them.
func (m *cluster) bring(ctx context.Context, dir string) (*projects.Manifest, error) {
	files, err := projects.Scan(ctx, dir, projects.Options{Cache: site.HashCache(dir)})
	if err != nil {
		return nil, project.FilesError(err)
	}
	if files.Revision() == m.CurrentRevision() {
		return files, nil
	}
	pushed, left, err := m.Push(ctx, files, nil)
	if large, ok := errors.AsType[*filesync.LargeError](err); ok {
		return nil, &cli.Error{Code: cli.Usage, Err: large,
			Remedy: site.LargeRemedy + "update-files --yes"}
	}
	if err != nil {
		return nil, site.Explain(err)
	}
	m.site.WarnOfLeft(left)
	for _, p := range pushed {
		m.site.Printer.Did(p.Host, fmt.Sprintf("bring the project's files: %d changed", p.Files),
			p.Took)
	}
	return files, nil
}

// asPushed returns the revision that the cluster was brought last, and its files where the project
// has not changed since; else nil.
func (m *cluster) asPushed(ctx context.Context, dir string) (string, *projects.Manifest) {
	revision := m.CurrentRevision()
	files, err := projects.Scan(ctx, dir, projects.Options{Cache: site.HashCache(dir)})
	if err != nil || files.Revision() != revision {
		return revision, nil
	}
	return revision, files
}
