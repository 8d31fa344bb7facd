package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"

	"mlframework/cmd/internal/cli"
	"mlframework/cmd/run-tasks/local"
	"mlframework/infra"
	"mlframework/infra/agent"
	"mlframework/infra/agent/server"
	"mlframework/infra/filesync"
	"mlframework/sweep/human"
)

// fetch copies outputs from the hosts of a cluster.
func (m *remote) fetch(
	ctx context.Context, w fetchPlan, to string, large infra.ConfirmFetch,
) ([]infra.Fetched, error) {
	var hosts []infra.FetchRequest
	for host, indexes := range w.hosts {
		hosts = append(hosts, infra.FetchRequest{Host: host, Tasks: indexes})
	}
	defer m.cluster.site.Printer.Clear()
	ask := func(e *filesync.LargeFetchError) error {
		m.cluster.site.Printer.Clear()
		return large(e)
	}
	return m.cluster.Fetch(ctx, w.Outputs, to, hosts, ask, func(host string, p filesync.Progress) {
		m.cluster.site.Printer.Says(host, fmt.Sprintf("%d of %d files, %s of %s", p.Files,
			p.OfFiles, human.Size(p.Bytes), human.Size(p.OfBytes)))
	})
}

// fetchHere copies outputs of tasks that ran on this machine, as those of a host are.
func fetchHere(
	ctx context.Context, w fetchPlan, to string, large infra.ConfirmFetch,
) (done []infra.Fetched, err error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	client, end, err := filesHere(ctx, filesync.Identity{Owner: strconv.Itoa(os.Getuid()),
		Cluster: dir})
	if err != nil {
		return nil, err
	}
	defer end()
	for host, indexes := range w.hosts {
		var f filesync.Fetched
		f, err = client.Fetch(ctx, filesync.FetchOptions{Sweep: w.Sweep, Tasks: indexes,
			Files: w.Files, Without: w.Revisions, Dir: to,
			Confirm: func(s filesync.FetchSize) error { return s.Check(to, large) },
			Own: &filesync.Folders{
				Outputs: local.OutputFolder(), Revisions: local.RevisionsFolder()}})
		done = append(done, infra.Fetched{Host: host, Fetched: f})
		if err != nil {
			break
		}
	}
	if conflict, ok := errors.AsType[*filesync.ConflictError](err); ok {
		return done, &cli.Error{Code: cli.Failed, Err: conflict}
	}
	return done, err
}

// confirmsFetch returns the confirmation of a large fetch: with yes it is given, otherwise the user
// is prompted.
func confirmsFetch(ctx context.Context, t *terminal, yes bool) infra.ConfirmFetch {
	return func(large *filesync.LargeFetchError) error {
		switch agreed, asked := t.agrees(ctx, yes, large.Error()+"\nFetch them?"); {
		case !asked:
			return &cli.Error{Code: cli.Usage, Err: large, Remedy: "--files and --top choose " +
				"fewer; confirm with --yes"}
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case !agreed:
			return &cli.Error{Code: cli.Interrupted, Err: errors.New("nothing was fetched")}
		}
		return nil
	}
}

// filesHere returns a client for files of this machine, and what ends it.
func filesHere(
	ctx context.Context, id filesync.Identity,
) (_ *filesync.Client, end func(), err error) {
	far, near := net.Pipe()
	served := make(chan error, 1)
	go func() { served <- server.Serve(ctx, far, server.Options{}) }()
	if _, err := io.ReadFull(near, make([]byte, len(agent.Ready))); err != nil {
		return nil, nil, err
	}
	a := agent.NewClient("this machine", near)
	return filesync.NewClient(a, "", id), func() {
		_ = a.Close()
		<-served // that the client has gone is its end
	}, nil
}
