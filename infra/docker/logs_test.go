package docker_test

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"mlframework/infra/docker"
)

// await follows the log of a container until a line is there.
func await(t testing.TB, name, line string) {
	t.Helper()
	ctx, cancel := context.WithCancel(bounded(t))
	defer cancel()
	r, w := io.Pipe()
	defer r.Close()
	go func() { w.CloseWithError(engine(t).Logs(ctx, name, docker.LogOptions{Follow: true}, w)) }()
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		if lines.Text() == line {
			return
		}
	}
	t.Fatalf("%s ended before it printed %q: %v", name, line, lines.Err())
}

func TestLogsFollowToTheEnd(t *testing.T) {
	t.Parallel()
	ctx, e, c := bounded(t), engine(t), run(t, spec(t, "serve"))
	var out bytes.Buffer
	ended := make(chan error)
	go func() { ended <- e.Logs(ctx, c, docker.LogOptions{Follow: true}, &out) }()
	await(t, c, "warned")
	if err := e.Stop(ctx, c, 20*time.Second); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	// Docker reads the two streams apart: their order among each other is not kept.
	text := out.String()
	if len(text) != len("ready\nwarned\nleaving\n") || !strings.Contains(text, "warned\n") ||
		strings.Index(text, "ready\n") > strings.Index(text, "leaving\n") {
		t.Errorf("the log is %q", text)
	}
	want(t, e.Logs(ctx, name(), docker.LogOptions{}, &out), docker.NotFound)
}

func TestLogsOfSomeLines(t *testing.T) {
	t.Parallel()
	ctx, e := bounded(t), engine(t)
	s := spec(t, "print", "5000")
	if _, out := output(t, s); !strings.HasPrefix(out, "line 0\n") ||
		strings.Count(out, "\n") != 5000 {
		t.Errorf("the log has %d lines", strings.Count(out, "\n"))
	}
	var out bytes.Buffer
	if err := e.Logs(ctx, s.Name, docker.LogOptions{Tail: 2}, &out); err != nil ||
		out.String() != "line 4998\nline 4999\n" {
		t.Errorf("the last two are %q, %v", out.String(), err)
	}
	out.Reset()
	if err := e.Logs(ctx, s.Name, docker.LogOptions{Tail: 1, Times: true}, &out); err != nil {
		t.Fatal(err)
	}
	stamp, _, _ := strings.Cut(out.String(), " ")
	when, err := time.Parse(time.RFC3339Nano, stamp)
	if err != nil {
		t.Fatal(err)
	}
	out.Reset()
	if err := e.Logs(ctx, s.Name, docker.LogOptions{Since: when.Add(time.Second)},
		&out); err != nil || out.Len() > 0 {
		t.Errorf("after the last there is %q, %v", out.String(), err)
	}
}
