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
			Usage: "`URL` of the broker, without a password: amqps://HOST:5671/VHOST"},
		&cliv2.StringFlag{Name: "credentials", EnvVars: []string{"MLFRAMEWORK_CREDENTIALS"},
			Usage: "`FILE` with USER:PASSWORD for the broker"},
		&cliv2.StringFlag{Name: "ca", EnvVars: []string{"MLFRAMEWORK_CA"},
			DefaultText: "the system's", Usage: "`FILE` with the CA that signed the broker's " +
				"certificate"},
		&cliv2.StringFlag{Name: "broker-name", DefaultText: "the host in the URL",
			Usage: "`NAME` in the broker's certificate"},
	}
}

func brokerOptions(ctx *cliv2.Context, log *slog.Logger) amqp.Options {
	return amqp.Options{URL: ctx.String("broker"), Credentials: ctx.String("credentials"),
		CA:         ctx.String("ca"),
		ServerName: ctx.String("broker-name"), Metrics: ctx.String("broker-metrics"), Log: log}
}

// checkTime bounds one try to connect.
const checkTime = 15 * time.Second

func (c *command) checkCommand() *cliv2.Command {
	return &cliv2.Command{Name: "check", Usage: "check that the broker can be used",
		Description: `EXAMPLES:
   sweepd check --broker amqps://gpu1:5671/ --credentials users/master`,
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
	return &cliv2.Command{Name: "version", Usage: "print the version", Description: `EXAMPLES:
   sweepd version`, Action: func(ctx *cliv2.Context) error {
		if err := plain(ctx); err != nil {
			return err
		}
		fmt.Fprintln(c.stdout, cli.Version())
		return nil
	}}
}
