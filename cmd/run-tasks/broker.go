package main

import (
	"fmt"
	"strconv"
	"time"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/cmd/run-tasks/display"
	"mlframework/sweep/api"
)

// brokerCommand is `run-tasks broker`.
func (c *command) brokerCommand() *cliv2.Command {
	return &cliv2.Command{Name: "broker", Usage: "shows a master's broker, or what it could not deliver", ArgsUsage: "[dead|requeue|drop [LETTER...]]",
		Description: "dead               lists the messages that could not be delivered, the newest first\n" +
			"requeue LETTER...  puts them back to where they were to be read; --all: all of them\n" +
			"drop LETTER...     forgets them; --all: all of them",
		Flags: append(locationFlags(),
			&cliv2.IntFlag{Name: "limit", DefaultText: "20", Usage: "with dead: at most `N`"},
			&cliv2.BoolFlag{DisableDefaultText: true, Name: "all", Usage: "with requeue and drop: all of them"},
			flagJSON()),
		Action: c.broker}
}

func (c *command) broker(ctx *cliv2.Context) error {
	if locationOf(ctx) == inFolder {
		return cli.Wrong("infrainit starts one and writes config.yml; or run-tasks --master SOCKET broker", "there is no broker on this machine's own sweeps: only a master has one")
	}
	verb, letters := ctx.Args().First(), ctx.Args().Tail()
	if err := checkBroker(ctx, verb, letters); err != nil {
		return err
	}
	m, err := c.dial(ctx)
	if err != nil {
		return err
	}
	defer m.close()
	switch verb {
	case "dead":
		all, err := m.Dead(ctx.Context, ctx.Int("limit"))
		if err != nil {
			return err
		}
		return c.printDeadLetters(ctx, all)
	case "requeue", "drop":
		do := m.Requeue
		if verb == "drop" {
			do = m.Drop
		}
		if ctx.Bool("all") {
			letters = []string{api.AllDeadLetters}
		}
		var sum api.DeadLetterOutcome
		for _, id := range letters {
			done, err := do(ctx.Context, id)
			if err != nil {
				return err
			}
			sum.Requeued += done.Requeued
			sum.Dropped += done.Dropped
			sum.Left += done.Left
		}
		return c.printOutcome(ctx, sum)
	}
	b, err := m.BrokerQueues(ctx.Context)
	if err != nil {
		return err
	}
	return c.printBroker(ctx, b)
}

// checkBroker refuses what makes no sense.
func checkBroker(ctx *cliv2.Context, verb string, letters []string) error {
	switch acts := verb == "requeue" || verb == "drop"; {
	case verb != "" && verb != "dead" && !acts:
		return cli.Wrong("run-tasks broker --help", "%q is nothing that can be done with a broker", verb)
	case ctx.IsSet("limit") && verb != "dead":
		return cli.Wrong("", "--limit is for run-tasks broker dead")
	case ctx.Int("limit") < 0:
		return cli.Wrong("", "--limit must not be negative")
	case ctx.Bool("all") && !acts:
		return cli.Wrong("", "--all is for run-tasks broker requeue and drop")
	case !acts && len(letters) > 0:
		return stray(letters[0])
	case ctx.Bool("all") && len(letters) > 0:
		return cli.Wrong("", "--all and %s do not go together", letters[0])
	case acts && len(letters) == 0 && !ctx.Bool("all"):
		return cli.Wrong("run-tasks broker "+verb+" LETTER..., or --all; run-tasks broker dead lists them", "which letters?")
	}
	for _, id := range letters {
		if id == api.AllDeadLetters {
			return cli.Wrong("run-tasks broker dead lists them", "\"\" is no letter")
		}
	}
	return nil
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
	case b.Away:
		state = "away" + text(b.Reason)
	case b.Blocked != nil:
		state = "takes nothing for now" + text(b.Blocked)
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
	t := display.NewTable("QUEUE", "READY", "UNACKED", "CONSUMERS")
	for _, q := range b.Queues {
		t.Add(q.Queue, strconv.Itoa(q.Messages), cli.Known(q.Unacked), cli.Known(q.Consumers))
	}
	return t.Write(c.stdout)
}

func (c *command) printDeadLetters(ctx *cliv2.Context, all api.DeadLetters) error {
	if ctx.Bool("json") {
		for _, l := range all.Letters {
			if err := encode(c.stdout, l); err != nil {
				return err
			}
		}
		return nil
	}
	if all.Count == 0 {
		fmt.Fprintln(c.stdout, "no letter is dead: everything was delivered")
		return nil
	}
	t := display.NewTable("LETTER", "FROM", "DIED", "BYTES", "REASON", "BEGINS")
	for _, l := range all.Letters {
		died := ""
		if l.Time != nil {
			died = l.Time.In(timeZone()).Format(time.DateTime)
		}
		t.Add(l.ID, l.From, died, strconv.Itoa(l.Bytes), l.Reason, shortened(l.Preview))
	}
	if err := t.Write(c.stdout); err != nil {
		return err
	}
	if n := all.Count - len(all.Letters); n > 0 {
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
	case b.Left == 0:
		fmt.Fprintln(c.stdout, "no letter is dead")
	}
	if b.Left > 0 {
		fmt.Fprintf(c.stdout,
			"%s stayed: the queue that it was in is gone, as its worker was forgotten, "+
				"or only its beginning was kept; run-tasks broker drop forgets it\n",
			plural(int64(b.Left), "letter"))
	}
	return nil
}
