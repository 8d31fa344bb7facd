package main

import (
	"context"
	"errors"
	"fmt"
	"sync"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/human"
	"mlframework/sweep/table"
)

func resultsCommand(c *command) *cliv2.Command {
	return &cliv2.Command{Name: "results", ArgsUsage: "[SWEEP...]",
		Action: onSource(c, readResultsOptions),
		Usage:  "print the results of sweeps as a table",
		Flags: append(locationFlags(),
			cli.Switch("all", "print one table over all sweeps of the definition"),
			cli.Switch("csv", "print CSV, with every column"), flagJSON(),
			&cliv2.StringFlag{Name: "group-by",
				Usage: "print means over tasks with equal `COLUMNS`, such as lr,unit; " +
					"none: print individual tasks"},
			&cliv2.StringFlag{Name: "metrics", DefaultText: "the objective's",
				Usage: "with groups: print means of the metrics `NAMES`"},
			cli.Switch("failures", "print failures instead, grouping similar ones"),
			&cliv2.StringFlag{Name: "sort",
				Usage: "sort by `COLUMN`; -COLUMN sorts in descending order"},
			&cliv2.StringFlag{Name: "where",
				Usage: "print only tasks that match `EXPR`, such as 'lr<=0.1 and " +
					"accuracy>0.9'"},
			&cliv2.IntFlag{Name: "top", DefaultText: "all", Usage: "print only the first `N` rows"},
			cli.Switch("reread", "first extract all metrics again, as currently defined in "+
				"tasks.yml"),
			metricFlag("for a command run after --: "),
			&cliv2.StringFlag{Name: "objective", Usage: "for a command run after --: rank tasks by " +
				"`OBJECTIVE`, such as \"maximize accuracy\""}),
		Description: `EXPR compares columns and can calculate with them: host in [gpu1, gpu2],
not (state=failed or loss=nan), batchsize * unit <= 1000, log10(lr) > -3,
name ~ '^a.*z$'. See docs/expressions.md.

With --all, several sweeps or a pattern such as 'train-*', prints one table with
the newest success for each combination.

--group-by prints one row for each combination of the columns, with the mean,
standard deviation and 95% confidence interval over its tasks, best mean first.
If parameters.yml has repeat, it is the default, even with --csv and --json. To
turn it off, use --group-by none. Put a name that contains a comma in
backquotes: --group-by '` + "`a,b`" + `,lr'.

EXAMPLES:
   # the best five of the newest sweep
   run-tasks results --top 5
   run-tasks results --where 'lr<=0.1 and state=succeeded' --sort -accuracy
   # why tasks failed
   run-tasks results run_training-1 --failures
   # the best tasks in all sweeps of a definition
   run-tasks results --all run_training --top 5
   # export the table to a spreadsheet
   run-tasks results --csv > results.csv`}
}

// resultsOptions are the options of `run-tasks results`.
type resultsOptions struct {
	sweep        string     // "": the newest
	sweeps       []string   // names and patterns
	all          bool       // all sweeps of a definition
	format       api.Format // "": a table for people
	query        api.Query
	onlyFailures bool
	groups       groupOptions
	reread       *rereadOptions // nil: metrics are not read again
}

func readResultsOptions(ctx *cliv2.Context) (o resultsOptions, err error) {
	o.sweep, o.sweeps, o.all = ctx.Args().First(), ctx.Args().Slice(), ctx.Bool("all")
	switch {
	case o.overSweeps() && (ctx.Bool("failures") || ctx.Bool("reread") || ctx.IsSet("metric") ||
		ctx.IsSet("objective")):
		return o, cli.Wrong("name one sweep", "--failures, --reread, --metric and --objective are "+
			"for one sweep")
	case ctx.Bool("csv") && ctx.Bool("json"):
		return o, cli.Wrong("", "--csv and --json are mutually exclusive")
	case ctx.Int("top") < 0:
		return o, cli.Wrong("", "--top must not be negative")
	case ctx.Bool("csv"):
		o.format = api.CSV
	case ctx.Bool("json"):
		o.format = api.JSON
	}
	if o.groups, err = readGroupOptions(ctx); err != nil {
		return o, err
	}
	o.query = api.Query{Where: ctx.String("where"), Sort: ctx.String("sort"), Top: ctx.Int("top"),
		Issued: o.format == ""}
	if err := wholeCondition(o.query.Where); err != nil {
		return o, err
	}
	if o.onlyFailures = ctx.Bool("failures"); o.onlyFailures {
		for _, name := range []string{"where", "sort", "top"} {
			if ctx.IsSet(name) {
				return o, cli.Wrong("", "--failures and --%s are mutually exclusive", name)
			}
		}
		return o, nil
	}
	if ctx.Bool("reread") || ctx.IsSet("metric") || ctx.IsSet("objective") {
		o.reread = &rereadOptions{rules: ctx.StringSlice("metric"),
			objective: ctx.String("objective"), dir: ctx.String("d")}
	}
	return o, nil
}

// run prints the results of a sweep. The table for people has the best task first, unless --sort
// says otherwise, and only tasks that were handed out; the other forms have every task. Results of
// a sweep with repeats are grouped, and so they are with --group-by.
func (o resultsOptions) run(ctx context.Context, src source, t *terminal) error {
	switch {
	case o.overSweeps():
		return o.runOver(ctx, src, t)
	case o.onlyFailures:
		return o.failures(ctx, src, t)
	}
	s, err := findSweep(ctx, t, src, o.sweep, false)
	if err != nil {
		return err
	}
	if o.reread != nil {
		if err := o.reread.run(ctx, src, t, s); err != nil {
			return err
		}
		if s, err = src.Sweep(ctx, s.ID, o.format == ""); err != nil {
			return err
		}
	}
	if groups, ok := o.groups.query(s); ok {
		groups.Query = o.query
		return o.writeGroups(ctx, src, t, s, groups)
	}
	if len(o.groups.metrics) > 0 {
		return cli.Wrong("", "--metrics is for groups: add --group-by COLUMN,...")
	}
	q := o.query
	q.Best = q.Sort == "" && (o.format == "" || q.Top > 0)
	if q.Best && q.Top > 0 && s.Record.Objective.IsZero() {
		t.note(s.ID + " has no objective: --top shows the first of its tasks by their numbers; " +
			"--sort COLUMN orders them")
	}
	if o.format != "" {
		return src.Results(ctx, s.ID, q, o.format, t.stdout)
	}
	return writeResults(ctx, src, t, s, q)
}

// writeResults prints the table for people.
func writeResults(ctx context.Context, src source, t *terminal, s api.Sweep,
	q api.Query) (err error) {
	aside := &spool{}
	defer func() { err = errors.Join(err, aside.close()) }()
	options := tableOptions(t.stdout, s)
	// a table of all keeps its rows until the last: it can rank them itself
	if q.Best && q.Top == 0 {
		q.Best = false
		options.Order = table.NewRanking(s.Record.Objective)
	}
	table := table.NewTextWriter(options, aside)
	if err := src.Rows(ctx, s.ID, q, table.Write); err != nil {
		return err
	}
	var checked api.Sweep
	var unchecked error
	var checks sync.WaitGroup // while this process makes the lines
	checks.Go(func() { checked, unchecked = src.Sweep(ctx, s.ID, true) })
	if table.Rows() == 0 {
		fmt.Fprintln(t.stdout, "no task to show")
	} else {
		err = table.Flush(t.stdout)
	}
	checks.Wait()
	if err := errors.Join(err, unchecked); err != nil {
		return err
	}
	s.Checks = checked.Checks
	if fresh := s.Total - s.Issued; fresh > 0 && q.Where == "" {
		fmt.Fprintf(t.stderr, "%s not shown: %s\n", human.Plural(fresh, "task"), notBegun(s))
	}
	warnMetrics(t, s)
	return nil
}

func notBegun(s api.Sweep) string {
	if s.State == core.Cancelled {
		return "cancelled before they were handed out (--csv and --json have them)"
	}
	return "not handed out yet (--csv and --json have them)"
}
