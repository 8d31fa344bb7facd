package main

import (
	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/site"
	"mlframework/sweep/api"
)

// brokerCommand is `run-tasks broker`.
func (c *command) brokerCommand() *cliv2.Command {
	return &cliv2.Command{Name: "broker", Action: c.broker,
		Flags: append(locationFlags(), flagJSON()), Usage: "show the message broker of a master",
		Description: `EXAMPLES:
   run-tasks broker`}
}

func (c *command) broker(ctx *cliv2.Context) error {
	if _, err := arguments(ctx); err != nil {
		return err
	}
	return c.withMaster(ctx, func(m *remote) error {
		b, err := m.BrokerQueues(ctx.Context)
		if err != nil {
			return err
		}
		return c.printBroker(ctx, b)
	})
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
		c.field("since", b.Since.In(timeZone()).Format(zoned))
	}
	if b.Program != nil {
		c.field("program", *b.Program)
	}
	if b.Refused != nil && *b.Refused > 0 {
		c.field("refused", plural(*b.Refused, "message")+", which the master's log has")
	}
	if len(b.Queues) == 0 {
		return nil
	}
	return site.Queues(b.Queues).Write(c.stdout)
}
