package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/cmd/internal/site"
	"mlframework/config"
	"mlframework/infra"
	"mlframework/infra/plan"
)

// up is the command.
func (c *command) up(ctx *cliv2.Context) error {
	if ctx.NArg() > 0 {
		return cli.Wrong("hosts are named with -a, the project's folder with -d",
			"unexpected argument %q", ctx.Args().First())
	}
	if ctx.Bool("cpu") {
		if ctx.IsSet("gpus") {
			return cli.Wrong("", "--cpu and --gpus are mutually exclusive")
		}
		if err := ctx.Set("gpus", "none"); err != nil {
			return err
		}
	}
	s, err := site.Read(ctx, ctx.Bool("file"), c.stderr)
	if err != nil {
		return err
	}
	s.Printer.Quiet = ctx.Bool("quiet")
	if ctx.Bool("verbose") {
		for _, o := range s.Config.Explain() {
			fmt.Fprintf(c.stderr, "%-16s %s  (%s)\n", o.Name, cli.Visible(o.Value),
				cli.Visible(o.Origin))
		}
	}
	work, stop := cli.Interrupts(ctx.Context, func() { os.Exit(cli.Interrupted) })
	defer stop()
	r, err := c.request(work, ctx, s)
	if err != nil {
		return err
	}
	result, err := c.bringUp(work, s, r)
	if errors.Is(err, cli.ErrInterrupted) {
		return errors.Join(&cli.Error{Code: cli.Interrupted, Err: errors.New("interrupted")},
			others(err))
	}
	if err != nil {
		return explain(s, err)
	}
	if r.DryRun == nil {
		err = c.conclude(work, ctx, s, result)
	}
	if len(result.Skipped) > 0 {
		return errors.Join(err, &cli.Error{Code: cli.Failed,
			Err: fmt.Errorf("hosts were skipped:\n%w", result.Skipped)})
	}
	return err
}

// others are what went wrong beside the interruption.
func others(err error) error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return nil
	}
	var rest []error
	for _, e := range joined.Unwrap() {
		if !errors.Is(e, cli.ErrInterrupted) {
			rest = append(rest, e)
		}
	}
	return errors.Join(rest...)
}

// explain gives what failed on hosts its exit code and the ways out.
func explain(s *site.Site, err error) error {
	faults, faulty := errors.AsType[plan.Problems](err)
	if missing, ok := errors.AsType[*infra.NoMaster](err); ok && !faulty {
		return cli.Wrong("name the master's host with -m to start one, or the cluster with --name",
			"%w", missing)
	}
	if image, ok := errors.AsType[*infra.ImageChange](err); ok {
		return &cli.Error{Code: cli.Failed, Err: image, Remedy: "nothing was changed; let them " +
			"finish or cancel them (run-tasks cancel), or call it again with --force"}
	}
	err = site.Explain(err)
	if told, ok := errors.AsType[*cli.Error](err); ok && faulty && told.Remedy == "" {
		told.Remedy = "nothing was changed"
		if workers, hosts := s.Without(faults); hosts != "" {
			option := "-w " + workers
			if workers == "" {
				option = "a -w that leaves it out"
			}
			told.Remedy += fmt.Sprintf("; to go on without %s, call it again with %s (removes it "+
				"from the cluster) or --skip-bad (changes only the other hosts)", hosts, option)
		}
	}
	return err
}

// request is what infra is asked for.
func (c *command) request(work context.Context, ctx *cliv2.Context, s *site.Site) (infra.Request,
	error) {
	files, file, err := s.Project(work)
	if err != nil {
		return infra.Request{}, err
	}
	r, err := s.Request(files, file)
	if err != nil {
		return r, err
	}
	r.Large = s.Large(work, c.stdin, ctx.Bool("yes"))
	r.SkipBad, r.Keep, r.Now, r.BreakLock = ctx.Bool("skip-bad"), ctx.Bool("keep"), ctx.Bool("now"),
		ctx.Bool("break-lock")
	r.Force = ctx.Bool("force")
	r.Downgrade, r.Rotate, r.Pull = ctx.Bool("downgrade"), ctx.Bool("rotate"), ctx.Bool("pull")
	if r.Rotate && joins(s) {
		return r, cli.Wrong("infrainit -f --rotate, where its cluster.yml is",
			"--rotate is for whole clusters, not for hosts that join one")
	}
	if r.Pull && joins(s) {
		return r, cli.Wrong("infrainit -f --pull, where its cluster.yml is",
			"--pull is for whole clusters, not for hosts that join one")
	}
	r.Entry = s.Entry("infrainit", entryDetail(r))
	if ctx.Bool("dry-run") {
		r.DryRun = cli.Shown{To: c.stdout} // names of hosts are what the master's host says
	}
	if len(s.Config.Options.Workers) == 0 {
		s.Printer.Warn("", "no -w: starting only the master; there is no worker to run tasks")
	}
	return r, nil
}

// entryDetail is what the audit says of a call.
func entryDetail(r infra.Request) string {
	text := fmt.Sprintf("hosts=%d", len(r.Targets))
	if r.BreakLock {
		text += " break-lock"
	}
	if r.Force {
		text += " force"
	}
	if r.Rotate {
		text += " rotate"
	}
	if r.Pull {
		text += " pull"
	}
	return text
}

// bringUp makes the cluster what is asked for, and saves the options in cluster.yml when it is so,
// or stays half done with --keep. A new cluster.yml is there before the first change, so that a
// call that is killed can be repeated with -f; infra-clean always is.
func (c *command) bringUp(ctx context.Context, s *site.Site, r infra.Request) (
	infra.Result, error) {
	home, _ := os.UserHomeDir()
	file, options, begun := s.Config.File, s.Config.Options, false
	r.Begin = func(p plan.Plan) error {
		save := config.Check
		if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
			save = config.Save
		}
		if _, err := writeClean(s, p.Before); err != nil || joins(s) { // its file is elsewhere
			return err
		}
		begun = true
		return save(file, home, options)
	}
	result, err := c.infraUp(ctx, r, s.Infra)
	if begun && !joins(s) && (err == nil || r.Keep) {
		err = errors.Join(err, config.Save(file, home, options))
	}
	return result, err
}

// joins tells whether hosts are added to a cluster that somebody has brought up before.
func joins(s *site.Site) bool { return s.Config.Options.Master == 0 }

// conclude shows what there is now, and what to type next.
func (c *command) conclude(ctx context.Context, cl *cliv2.Context, s *site.Site,
	result infra.Result) error {
	defer result.Cluster.Close()
	script, err := writeClean(s, result.Record)
	if err != nil {
		return err
	}
	overview, err := s.Overview(ctx, result.Cluster)
	if err != nil {
		return err
	}
	if cl.Bool("json") {
		return overview.WriteJSON(c.stdout)
	}
	if cl.Bool("quiet") {
		return nil
	}
	if err := overview.WriteHosts(c.stdout); err != nil {
		return err
	}
	if filepath.Base(script) == script {
		script = "./" + script
	}
	what := outcome(result)
	if joins(s) {
		fmt.Fprintf(c.stdout, "\n%s. Add the new hosts to the cluster.yml from which you set up "+
			"the cluster: `infrainit -f` removes hosts that it does not list.\n", what)
		return nil
	}
	fmt.Fprintf(c.stdout, "\n%s. Next:\n"+
		"  %-26s show the state of the cluster\n"+
		"  %-26s run a definition of tasks.yml\n"+
		"  %-26s remove the cluster\n",
		what, cli.Hints{Config: s.Hints.Config}.Command("check-status"),
		s.Hints.Command("run-tasks")+" NAME", script)
	return nil
}

// outcome says what a call did, and how long it took.
func outcome(r infra.Result) string {
	if !r.Plan.Changes {
		return fmt.Sprintf("nothing to change (checked in %.1fs)", r.Took.Seconds())
	}
	return fmt.Sprintf("changed in %.1fs", r.Took.Seconds())
}
