package main

import (
	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/site"
	"mlframework/sweep/human"
)

// brokerCommand is `run-tasks broker`.
func brokerCommand(c *command) *cliv2.Command {
	return &cliv2.Command{Name: "broker", Action: onMaster(c, showBroker),
		Flags: append(locationFlags(), flagJSON()), Usage: "show the message broker of a master",
		Description: `EXAMPLES:
   run-tasks broker`}
}

// showBroker is `run-tasks broker`.
func showBroker(ctx *cliv2.Context, m *remote, t *terminal, _ []string) error {
	b, err := m.BrokerQueues(ctx.Context)
	if err != nil {
		return err
	}
	if ctx.Bool("json") {
		return encode(t.stdout, b)
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
	t.field("broker", state)
	if b.Since != nil {
		t.field("since", b.Since.In(timeZone()).Format(zoned))
	}
	if b.Program != nil {
		t.field("program", *b.Program)
	}
	if b.Refused != nil && *b.Refused > 0 {
		t.field("refused", human.Plural(*b.Refused, "message")+", which the master's log has")
	}
	if len(b.Queues) == 0 {
		return nil
	}
	return site.Queues(b.Queues).Write(t.stdout)
}
