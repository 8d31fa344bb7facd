package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/sweep/api/server"
	"mlframework/sweep/core"
	"mlframework/sweep/master"
	"mlframework/sweep/queue/amqp"
	"mlframework/sweep/store"
	"mlframework/sweep/worker/process"
)

func (c *command) masterCommand() *cliv2.Command {
	return &cliv2.Command{
		Name: "master", Usage: "store sweeps and assign tasks to workers", Action: c.master,
		Description: `Runs until SIGTERM. While the broker is unavailable, the master accepts sweeps,
logs the reason and keeps trying to connect.

Exits with code 5 if another master uses the store or the broker. The broker may
take up to 20 s to notice that a master has died. A new master waits for this.

EXAMPLES:
   sweepd master --store /var/lib/sweeps --socket /run/sweeps.sock \
     --broker amqps://gpu1:5671/ --ca ca.pem --credentials users/master`,
		Flags: append([]cliv2.Flag{
			&cliv2.StringFlag{Name: "store", Usage: "store `FOLDER`"},
			&cliv2.StringFlag{Name: "socket", Usage: "`PATH` of the API's Unix socket"},
			&cliv2.StringFlag{Name: "monitor-socket", DefaultText: "none",
				Usage: "`PATH` of a socket for the monitor, in a separate folder; it can show and " +
					"control sweeps, but not run new code"},
			&cliv2.StringFlag{Name: "revisions", DefaultText: "run-tasks cannot upload files",
				Usage: "`FOLDER` for project files, if run-tasks runs on this machine"},
			&cliv2.StringFlag{Name: "broker-metrics", DefaultText: "none",
				Usage: "`URL` of the broker's rabbitmq_prometheus plugin, for check-status: " +
					"http://HOST:15692"},
			&cliv2.DurationFlag{Name: "lease", Value: core.DefaultLease,
				Usage: "reschedule a worker's tasks after `TIME` without a heartbeat"},
		}, brokerFlags()...),
	}
}

// masterMemory is what the Go runtime of a master tries to stay below, in bytes, as long as its
// live objects are few.
const masterMemory = 16 << 20

func (c *command) master(ctx *cliv2.Context) (err error) {
	if err := plain(ctx, "store", "socket", "broker", "credentials"); err != nil {
		return err
	}
	if lease := ctx.Duration("lease"); lease < 5*time.Second {
		return cli.Wrong("", "--lease must be at least 5s: workers tell of themselves every 2s")
	}
	if err := process.ProtectMemory(); err != nil {
		return &cli.Error{Code: cli.Machine, Err: err}
	}
	cli.CollectLess()
	go cli.BoundMemory(ctx.Context, masterMemory)
	log := cli.Log(c.stderr)
	revisions, err := folder(ctx.String("revisions"))
	if err != nil {
		return err
	}
	st, err := store.Open(ctx.Context, ctx.String("store"), "sweepd master")
	if err != nil {
		return storeError(err)
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	listeners, err := listenAPI(ctx)
	if err != nil {
		return &cli.Error{Code: cli.Machine, Err: err}
	}
	o := brokerOptions(ctx, log)
	o.Holder = masterHolder(ctx.String("store"))
	hub, err := amqp.NewMasterEndpoint(o)
	if err != nil {
		for _, l := range listeners {
			err = errors.Join(err, l.Close())
		}
		return cli.Wrong("", "%w", err)
	}
	defer hub.Close()
	m := master.New(master.Options{Store: st, Queue: hub, Log: log, Lease: ctx.Duration("lease"),
		Secrets: filepath.Join(ctx.String("store"), "secrets")})
	server := server.New(server.Options{Master: m, Store: &st.Reader, Broker: hub,
		Revisions: revisions, Program: cli.Version(), Log: log})

	work, stop := cli.Interrupts(ctx.Context, func() { os.Exit(cli.Interrupted) })
	defer stop()
	running, end := context.WithCancelCause(work)
	defer end(nil)
	var parts sync.WaitGroup
	parts.Go(func() { end(m.Run(running)) })
	parts.Go(func() {
		if err := st.Watch(running, log); err != nil {
			end(&cli.Error{Code: cli.Machine, Err: err, Remedy: "the master ends; restore the " +
				"folder, or start the master again on an empty store"})
		}
	})
	parts.Go(func() {
		select {
		case err := <-hub.Refused():
			end(&cli.Error{Code: cli.Machine, Err: fmt.Errorf("cannot use the broker: %w", err),
				Remedy: "only one master can use a broker: stop the other master, or set a " +
					"separate vhost for this one in --broker"})
		case <-running.Done():
		}
	})
	served := server.Run(running, listeners...)
	end(served)
	parts.Wait()
	return ending(running, served)
}

// masterHolder describes this master to another master that finds the broker in use.
func masterHolder(store string) string {
	host, _ := os.Hostname()
	return fmt.Sprintf("the master on %s with the store %s (%s)", host, store, started(os.Getpid()))
}

// listenAPI opens the sockets of the API.
func listenAPI(ctx *cliv2.Context) ([]net.Listener, error) {
	full, err := server.Listen(ctx.String("socket"))
	if err != nil || ctx.String("monitor-socket") == "" {
		return []net.Listener{full}, err
	}
	reading, err := server.ListenForMonitor(ctx.String("monitor-socket"))
	if err != nil {
		return nil, errors.Join(err, full.Close())
	}
	return []net.Listener{full, reading}, nil
}

// ending is why a part of a cluster ended: nothing, when it was asked to.
func ending(ctx context.Context, err error) error {
	cause := context.Cause(ctx)
	if errors.Is(cause, cli.ErrInterrupted) || errors.Is(cause, context.Canceled) {
		return err
	}
	return errors.Join(cause, err)
}

// storeError gives a store that cannot be opened its exit code and a way out.
func storeError(err error) error {
	if _, used := errors.AsType[*store.InUse](err); used {
		return &cli.Error{Code: cli.Machine, Err: err, Remedy: "one master at a time uses a " +
			"store: end the other, or name another folder with --store"}
	}
	return err
}

// folder makes a folder that is named; its path is absolute.
func folder(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	path, err := filepath.Abs(path)
	if err == nil {
		err = os.MkdirAll(path, 0o700)
	}
	if err != nil {
		return "", &cli.Error{Code: cli.Machine, Err: err}
	}
	return path, nil
}
