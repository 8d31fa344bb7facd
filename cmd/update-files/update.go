package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/cmd/internal/site"
	"mlframework/infra"
	"mlframework/sweep/definition"
)

// Limits of removing old revisions after a push: one as new as freshTime stays, as a sweep of it
// may be about to be submitted, and the master has masterTime to answer.
const (
	freshTime  = 10 * time.Minute
	masterTime = 5 * time.Second
)

// update is the command.
func (c *command) update(ctx *cliv2.Context) error {
	if ctx.NArg() > 0 {
		return cli.Wrong("the project's folder is named with -d", "unexpected argument %q",
			ctx.Args().First())
	}
	s, err := site.Read(ctx, true, c.stderr)
	if err != nil {
		return err
	}
	s.Config.Options.Project = s.Config.ProjectHere()
	work, stop := cli.Interrupts(ctx.Context, func() { os.Exit(cli.Interrupted) })
	defer stop()
	err = c.bring(work, s, ctx.Bool("yes"))
	if err != nil && errors.Is(context.Cause(work), cli.ErrInterrupted) {
		return &cli.Error{Code: cli.Interrupted, Err: errors.New("interrupted"),
			Remedy: "sweeps keep their files; run it again"}
	}
	return err
}

// bring pushes the project and tidies up.
func (c *command) bring(ctx context.Context, s *site.Site, yes bool) error {
	if _, err := s.Location(); err != nil { // before a large project is read
		return err
	}
	files, file, err := s.Project(ctx)
	if err != nil {
		return err
	}
	if files == nil {
		return cli.Wrong("name its folder with -d",
			"there is no project: the current folder has no tasks.yml")
	}
	cluster, err := s.Open(ctx)
	if err != nil {
		return err
	}
	defer cluster.Close()
	if err := c.compare(ctx, s, cluster, file); err != nil {
		return err
	}
	done, left, err := cluster.Push(ctx, files, s.Large(ctx, c.stdin, yes))
	entry := s.Entry("update-files", "revision="+files.Revision())
	if err := cluster.Enter(ctx, entry, err); err != nil {
		s.Printer.Warn("", err.Error())
	}
	if err != nil {
		return err
	}
	fmt.Fprint(c.stdout, told(files.Revision(), done))
	s.WarnOfLeft(left)
	switch err := c.tidy(ctx, s, cluster); {
	case err != nil || len(left) == 0:
		return err
	case left[0].Unreached:
		return cli.Code(cli.Unreachable)
	}
	return cli.Code(cli.Failed)
}

// compare refuses to bring a tasks.yml that says other containers than the workers have: sweeps
// would run in those all the same. That it cannot be compared, as the master does not answer, is
// told, and no failure.
func (c *command) compare(
	ctx context.Context, s *site.Site, cluster *infra.Cluster, file *definition.File,
) error {
	limited, cancel := context.WithTimeout(ctx, masterTime)
	defer cancel()
	client := s.Client(cluster.Dial())
	defer client.Close()
	workers, err := client.Workers(limited)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		s.Printer.Warn("", fmt.Sprintf("image, volumes and container of tasks.yml were not "+
			"compared with the workers: %v", err))
		return nil
	}
	dir := s.Config.Options.Project
	drifts, err := site.Drifts(ctx, dir, file, workers)
	if err != nil {
		return err
	}
	return site.DriftError(drifts, dir, dir, "nothing was brought")
}

// told says what was brought where.
func told(revision string, done []infra.Pushed) string {
	text, made := "", false
	for _, p := range done {
		what := "has it already"
		if p.Made {
			made = true
			what = fmt.Sprintf("got %s, %s", cli.Files(p.Files), size(p.Bytes))
			if p.Files == 0 {
				what = "had all contents"
			}
		}
		text += fmt.Sprintf("%-8s  %-32s %6.1fs\n", cli.Visible(p.Host), what, p.Took.Seconds())
	}
	if !made {
		return text + fmt.Sprintf("nothing changed: revision %s\n", revision)
	}
	return text + fmt.Sprintf("revision %s: sweeps that you submit now run it\n", revision)
}

// size is a number of bytes for people.
func size(bytes int64) string {
	switch {
	case bytes < 1000:
		return fmt.Sprintf("%d bytes", bytes)
	case bytes < 1e6:
		return fmt.Sprintf("%.1f kB", float64(bytes)/1e3)
	}
	return fmt.Sprintf("%.1f MB", float64(bytes)/1e6)
}

// tidy removes revisions that nothing can run any more. That it cannot is told, and no failure.
func (c *command) tidy(ctx context.Context, s *site.Site, cluster *infra.Cluster) error {
	limited, cancel := context.WithTimeout(ctx, masterTime)
	defer cancel()
	keep, err := s.Infra.Control.Revisions(limited, cluster.Dial())
	if err == nil {
		var gone []infra.Pruned
		gone, err = cluster.Prune(ctx, keep, freshTime)
		for _, p := range gone {
			if len(p.Revisions) > 0 {
				fmt.Fprintf(c.stdout, "%-8s  removed %d that no open sweep uses\n",
					cli.Visible(p.Host), len(p.Revisions))
			}
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		s.Printer.Warn("", fmt.Sprintf("old revisions were not removed from the hosts: %v", err))
	}
	return nil
}
