package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"mlframework/cmd/internal/cli"
	"mlframework/infra"
	"mlframework/infra/docker"
	"mlframework/infra/layout"
	"mlframework/infra/plan"
)

// logs prints what a container printed.
func (c *command) logs(ctx context.Context, w wish, cluster *infra.Cluster) error {
	host, role, err := container(cluster.Record, w.logs)
	if err != nil {
		return err
	}
	out := &shown{to: c.stdout}
	err = cluster.Logs(ctx, host, role, docker.LogOptions{Tail: w.tail, Follow: w.follow}, out)
	if flushed := out.flush(); err == nil {
		err = flushed
	}
	if docker.KindOf(err) == docker.NotFound {
		return &cli.Error{Code: cli.Failed, Err: fmt.Errorf("there is no container of the %s on %s",
			role, host), Remedy: "infrainit -f starts one"}
	}
	return err
}

// container finds what is meant by a role, or by the name or address of a worker's host.
func container(r layout.Record, named string) (host, role string, err error) {
	if slices.Contains([]string{plan.Master, plan.Broker, plan.Monitor}, named) {
		return r.Master, named, nil
	}
	var names []string
	for _, h := range r.Hosts {
		if !h.Worker {
			continue
		}
		if h.Name == named || h.Address == named {
			return h.Name, plan.Worker, nil
		}
		names = append(names, h.Name)
	}
	return "", "", cli.Wrong("name one of "+strings.Join(append(names, plan.Master, plan.Broker,
		plan.Monitor), ", "), "the cluster has no %s", named)
}

// shown writes lines with their control codes made visible: a program may have printed anything.
type shown struct {
	to   io.Writer
	part []byte // of a line
}

// longestPart is how much of a line without an end is kept.
const longestPart = 64 << 10

func (s *shown) Write(p []byte) (int, error) {
	s.part = append(s.part, p...)
	end := bytes.LastIndexByte(s.part, '\n') + 1
	if end == 0 && len(s.part) > longestPart {
		end = len(s.part)
	}
	_, err := io.WriteString(s.to, cli.VisibleOutput(string(s.part[:end])))
	s.part = append(s.part[:0], s.part[end:]...)
	return len(p), err
}

// flush writes a last line that has no end.
func (s *shown) flush() error {
	if len(s.part) == 0 {
		return nil
	}
	_, err := io.WriteString(s.to, cli.VisibleOutput(string(s.part))+"\n")
	s.part = nil
	return err
}
