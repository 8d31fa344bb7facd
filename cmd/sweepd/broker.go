package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/sweep/queue/amqp"
)

// brokerFlags say how the broker is reached.
func brokerFlags() []cliv2.Flag {
	return []cliv2.Flag{
		&cliv2.StringFlag{Name: "broker", EnvVars: []string{"MLFRAMEWORK_BROKER"},
			Usage: "the broker's `URL`, without a password: amqps://HOST:5671/VHOST"},
		&cliv2.StringFlag{Name: "credentials", EnvVars: []string{"MLFRAMEWORK_CREDENTIALS"},
			Usage: "`FILE` with USER:PASSWORD for the broker"},
		&cliv2.StringFlag{Name: "ca", EnvVars: []string{"MLFRAMEWORK_CA"},
			Usage: "`FILE` with the authority that signed the broker's certificate", DefaultText: "those of the system"},
		&cliv2.StringFlag{Name: "broker-name", Usage: "the `NAME` in the broker's certificate", DefaultText: "the host of the URL"},
	}
}

func brokerOptions(ctx *cliv2.Context, log *slog.Logger) amqp.Options {
	return amqp.Options{URL: ctx.String("broker"), Credentials: ctx.String("credentials"), CA: ctx.String("ca"),
		ServerName: ctx.String("broker-name"), Metrics: ctx.String("broker-metrics"), Log: log}
}

// checkTime bounds one try to connect.
const checkTime = 15 * time.Second

func (c *command) checkCommand() *cliv2.Command {
	return &cliv2.Command{Name: "check", Usage: "connects to the broker once, and tells what is wrong",
		Flags: brokerFlags(), Action: func(ctx *cliv2.Context) error {
			if err := plain(ctx, "broker", "credentials"); err != nil {
				return err
			}
			bounded, cancel := context.WithTimeout(ctx.Context, checkTime)
			defer cancel()
			err := amqp.Check(bounded, brokerOptions(ctx, nil))
			if _, broker := errors.AsType[*amqp.Fault](err); broker {
				return &cli.Error{Code: cli.Unreachable, Err: err}
			} else if err != nil {
				return cli.Wrong("", "%w", err)
			}
			fmt.Fprintln(c.stdout, "the broker answers")
			return nil
		}}
}

func (c *command) versionCommand() *cliv2.Command {
	return &cliv2.Command{Name: "version", Usage: "prints the version of this program", Action: func(ctx *cliv2.Context) error {
		if err := plain(ctx); err != nil {
			return err
		}
		fmt.Fprintln(c.stdout, cli.Version())
		return nil
	}}
}
