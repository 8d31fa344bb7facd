package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/infra/filesync"
)

func (c *command) filesCommand() *cliv2.Command {
	return &cliv2.Command{
		Name: "files", Usage: "brings a project's files to this host, and outputs from it", Action: c.files,
		Description: "It is what infrainit, update-files and run-tasks talk to: it reads requests on its\n" +
			"standard input and answers on its standard output, until that ends. It uses nothing\n" +
			"but the folder, and only one with a marker of the same cluster, a new or an empty one.",
		Flags: []cliv2.Flag{
			&cliv2.StringFlag{Name: "root", Usage: "`FOLDER` of the cluster on this host"},
			&cliv2.StringFlag{Name: "verify", Usage: "only read the files of `REVISION` and say whether they are whole"},
		},
	}
}

func (c *command) files(ctx *cliv2.Context) error {
	if err := plain(ctx, "root"); err != nil {
		return err
	}
	running, stop := signal.NotifyContext(ctx.Context, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	signal.Ignore(syscall.SIGPIPE) // a client that went away is an error of writing, after which what was begun is removed
	if revision := ctx.String("verify"); revision != "" {
		return c.verifyFiles(running, ctx.String("root"), revision)
	}
	conn := struct {
		io.Reader
		io.Writer
	}{os.Stdin, c.stdout}
	return filesync.Serve(running, conn, filesync.ServeOptions{Root: ctx.String("root"), Program: cli.Version()})
}

func (c *command) verifyFiles(ctx context.Context, root, revision string) error {
	if err := filesync.Verify(ctx, root, revision); err != nil {
		return err
	}
	_, err := fmt.Fprintf(c.stdout, "revision %s is whole\n", revision)
	return err
}
