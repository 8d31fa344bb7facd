package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/cmd/internal/site"
	"mlframework/infra"
	"mlframework/infra/filesync"
	"mlframework/sweep/api"
	"mlframework/sweep/result"
)

func (c *command) fetchCommand() *cliv2.Command {
	return &cliv2.Command{Name: "fetch", Usage: "copies the outputs of a sweep's tasks from their hosts", ArgsUsage: "[SWEEP | SWEEP/INDEX]",
		Description: "They come to FOLDER/SWEEP/INDEX. What arrives is verified; called again it copies\n" +
			"what is new or was cut off. Files that it did not make are never written over. Of a task that\n" +
			"runs it copies what the task has made so far.",
		Flags: append(places(),
			&cliv2.StringFlag{Name: "to", Value: outputFolder, Usage: "into `FOLDER`"},
			&cliv2.StringFlag{Name: "where", Usage: "only of tasks for which `EXPR` holds: 'accuracy>0.9'"}, flagJSON()),
		Action: c.fetch}
}

// fetched is what fetch says of one host, as JSON.
type fetched struct {
	Host    string   `json:"host"`
	Files   int      `json:"files"`
	Bytes   int64    `json:"bytes"`
	Had     int      `json:"had"`
	Skipped []string `json:"skipped"`
}

func (c *command) fetch(ctx *cliv2.Context) error {
	arg, err := argument(ctx)
	if err != nil {
		return err
	}
	t, err := parseTarget(arg)
	if err != nil {
		return err
	}
	if placeOf(ctx) != inCluster {
		return cli.Wrong("its outputs are in the outputs folder of this machine", "fetch is for a cluster of config.yml")
	}
	work, stop := cli.Interrupts(ctx.Context, func() { os.Exit(cli.Interrupted) })
	defer stop()
	m, err := c.dialCluster(ctx)
	if err != nil {
		return err
	}
	defer m.close()
	s, err := m.Sweep(work, t.sweep, false)
	if err != nil {
		return err
	}
	tasks := map[string][]int64{}
	revisions := map[string]bool{}
	err = m.Rows(work, s.ID, api.Query{Begun: true, Where: ctx.String("where")}, func(r *result.Row) error {
		if r.Host != "" && (!t.isTask || r.Index == t.index) {
			tasks[r.Host] = append(tasks[r.Host], r.Index)
			revisions[r.Revision] = true
		}
		return nil
	})
	if err != nil {
		return err
	}
	var wanted []infra.Wanted
	for host, indexes := range tasks {
		wanted = append(wanted, infra.Wanted{Host: host, Tasks: indexes})
	}
	if len(wanted) == 0 {
		return cli.Wrong("run-tasks show "+s.ID+" shows how it stands", "no task of %s that is meant has begun", s.ID)
	}
	done, err := m.cluster.Fetch(work, s.ID, ctx.String("to"), slices.Sorted(maps.Keys(revisions)), wanted, func(host string, p filesync.Progress) {
		m.cluster.site.Printer.Says(host, fmt.Sprintf("%d of %d files, %.1f of %.1f MB", p.Files, p.OfFiles, float64(p.Bytes)/1e6, float64(p.OfBytes)/1e6))
	})
	m.cluster.site.Printer.Clear()
	if errors.Is(err, cli.ErrInterrupted) {
		fmt.Fprintln(c.stderr, "interrupted; called again it goes on")
		return cli.Code(cli.Interrupted)
	}
	return errors.Join(c.tellFetched(ctx, filepath.Join(ctx.String("to"), s.ID), done), failedFetch(err))
}

// failedFetch gives hosts that were not reached their exit code.
func failedFetch(err error) error {
	if err == nil {
		return nil
	}
	if _, step := errors.AsType[*infra.StepError](err); step {
		return &cli.Error{Code: cli.Failed, Err: err, Remedy: "called again it goes on where it was"}
	}
	return site.Explain(err)
}

func (c *command) tellFetched(ctx *cliv2.Context, folder string, done []infra.Fetched) error {
	slices.SortFunc(done, func(a, b infra.Fetched) int { return strings.Compare(a.Host, b.Host) })
	for _, d := range done {
		one := fetched{Host: d.Host, Files: d.Files, Bytes: d.Bytes, Had: d.Had, Skipped: []string{}}
		for _, s := range d.Skipped {
			one.Skipped = append(one.Skipped, s.Path)
			fmt.Fprintf(c.stderr, "note: %s: %s: left out: %s\n", d.Host, result.Visible(s.Path), result.Visible(s.Why))
		}
		if ctx.Bool("json") {
			if err := encode(c.stdout, one); err != nil {
				return err
			}
			continue
		}
		fmt.Fprintf(c.stdout, "%s: %s, %.1f MB (%d were here)\n", d.Host, cli.Files(d.Files), float64(d.Bytes)/1e6, d.Had)
	}
	if !ctx.Bool("json") {
		fmt.Fprintf(c.stdout, "in %s%c\n", folder, filepath.Separator)
	}
	return nil
}
