package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/cmd/internal/site"
	"mlframework/sweep/api"
)

// brokerCommand is `run-tasks broker`.
func (c *command) brokerCommand() *cliv2.Command {
	flags := func(more ...cliv2.Flag) []cliv2.Flag {
		return append(append(locationFlags(), more...), flagJSON())
	}
	all := func() cliv2.Flag { return cli.Switch("all", "all dead letters") }
	return &cliv2.Command{Name: "broker", Action: c.broker, Flags: flags(),
		Usage: "show the message broker of a master, or its dead letters",
		Description: `A dead letter is a message between master and workers that could not be
delivered.

EXAMPLES:
   run-tasks broker
   # list the dead letters
   run-tasks broker dead`,
		Subcommands: []*cliv2.Command{
			{Name: "dead", Action: c.deadLetters, Usage: "list dead letters, newest first",
				Flags: flags(&cliv2.IntFlag{Name: "limit", DefaultText: "20",
					Usage: "list at most `N`"}),
				Description: `EXAMPLES:
   run-tasks broker dead --limit 100`},
			{Name: "requeue", ArgsUsage: "LETTER...", Flags: flags(all()),
				Action: c.disposeLetters((*api.Client).Requeue),
				Usage:  "put dead letters back into the queues they came from",
				Description: `EXAMPLES:
   run-tasks broker requeue --all`},
			{Name: "drop", ArgsUsage: "LETTER...", Flags: flags(all()),
				Action: c.disposeLetters((*api.Client).Drop),
				Usage:  "delete dead letters",
				Description: `EXAMPLES:
   run-tasks broker drop --all`},
		}}
}

func (c *command) broker(ctx *cliv2.Context) error {
	return c.withMaster(ctx, func(m *remote) error {
		b, err := m.BrokerQueues(ctx.Context)
		if err != nil {
			return err
		}
		return c.printBroker(ctx, b)
	})
}

func (c *command) deadLetters(ctx *cliv2.Context) error {
	if _, err := arguments(ctx); err != nil {
		return err
	}
	if ctx.Int("limit") < 0 {
		return cli.Wrong("", "--limit must not be negative")
	}
	return c.withMaster(ctx, func(m *remote) error {
		all, err := m.Dead(ctx.Context, ctx.Int("limit"))
		if err != nil {
			return err
		}
		return c.printDeadLetters(ctx, all)
	})
}

// disposal is what a master can do with a dead letter.
type disposal func(*api.Client, context.Context, string) (api.DeadLetterOutcome, error)

// disposeLetters is a command that does something with the letters that are named, or with all.
func (c *command) disposeLetters(do disposal) cliv2.ActionFunc {
	return func(ctx *cliv2.Context) error {
		letters, err := lettersOf(ctx)
		if err != nil {
			return err
		}
		return c.withMaster(ctx, func(m *remote) error {
			var sum api.DeadLetterOutcome
			for _, id := range letters {
				done, err := do(m.Client, ctx.Context, id)
				if err != nil {
					return err
				}
				sum.Requeued += done.Requeued
				sum.Dropped += done.Dropped
				sum.Remaining += done.Remaining
			}
			return c.printOutcome(ctx, sum)
		})
	}
}

// lettersOf returns the ids of the letters that a command line names.
func lettersOf(ctx *cliv2.Context) ([]string, error) {
	letters := ctx.Args().Slice()
	switch {
	case ctx.Bool("all") && len(letters) > 0:
		return nil, cli.Wrong("", "--all and %s are mutually exclusive", letters[0])
	case ctx.Bool("all"):
		return []string{api.AllDeadLetters}, nil
	case len(letters) == 0:
		remedy := ctx.Command.HelpName + " LETTER..., or --all; run-tasks broker dead lists them"
		return nil, cli.Wrong(remedy, "missing argument: LETTER")
	case slices.Contains(letters, api.AllDeadLetters):
		return nil, cli.Wrong("run-tasks broker dead lists them", "%q is not a letter",
			api.AllDeadLetters)
	}
	return letters, nil
}

func (c *command) printBroker(ctx *cliv2.Context, b api.Broker) error {
	if ctx.Bool("json") {
		return encode(c.stdout, b)
	}
	text := func(p *string) string {
		if p == nil {
			return ""
		}
		return ": " + *p
	}
	state := "reached"
	switch {
	case b.Unreachable:
		state = "away" + text(b.Reason)
	case b.Blocked != nil:
		state = "blocked" + text(b.Blocked)
	}
	c.field("broker", state)
	if b.Since != nil {
		c.field("since", b.Since.In(timeZone()).Format(time.DateTime))
	}
	if b.Program != nil {
		c.field("program", *b.Program)
	}
	if len(b.Queues) == 0 {
		return nil
	}
	return site.Queues(b.Queues).Write(c.stdout)
}

func (c *command) printDeadLetters(ctx *cliv2.Context, all api.DeadLetters) error {
	if ctx.Bool("json") {
		for _, l := range all.Entries {
			if err := encode(c.stdout, l); err != nil {
				return err
			}
		}
		return nil
	}
	if all.Count == 0 {
		fmt.Fprintln(c.stdout, "there are no dead letters")
		return nil
	}
	t := cli.NewTable("LETTER", "FROM", "DIED", "BYTES", "REASON", "BEGINS")
	for _, l := range all.Entries {
		died := ""
		if l.Time != nil {
			died = l.Time.In(timeZone()).Format(time.DateTime)
		}
		t.Add(l.ID, l.From, died, strconv.Itoa(l.Bytes), l.Reason, shortened(l.Preview))
	}
	if err := t.Write(c.stdout); err != nil {
		return err
	}
	if n := all.Count - len(all.Entries); n > 0 {
		fmt.Fprintf(c.stdout, "and %d more\n", n)
	}
	return nil
}

// shortened is how a message begins, in a table.
func shortened(preview string) string {
	const most = 40
	if r := []rune(preview); len(r) > most {
		return string(r[:most]) + "..."
	}
	return preview
}

func (c *command) printOutcome(ctx *cliv2.Context, b api.DeadLetterOutcome) error {
	if ctx.Bool("json") {
		return encode(c.stdout, b)
	}
	switch {
	case b.Dropped > 0:
		fmt.Fprintf(c.stdout, "dropped %s\n", plural(int64(b.Dropped), "letter"))
	case b.Requeued > 0:
		fmt.Fprintf(c.stdout, "requeued %s\n", plural(int64(b.Requeued), "letter"))
	case b.Remaining == 0:
		fmt.Fprintln(c.stdout, "there are no dead letters")
	}
	if b.Remaining > 0 {
		fmt.Fprintf(c.stdout,
			"%s stayed: the queue that it was in is gone, as its worker was forgotten, "+
				"or only its beginning was kept; run-tasks broker drop forgets it\n",
			plural(int64(b.Remaining), "letter"))
	}
	return nil
}
