package docker_test

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"mlframework/infra/docker"
)

func is(err, target error) bool { return errors.Is(err, target) }

func TestExec(t *testing.T) {
	t.Parallel()
	ctx, e, c := bounded(t), engine(t), run(t, spec(t, "serve"))
	in := make([]byte, 3<<20)
	_, _ = rand.Read(in)
	var out, said bytes.Buffer
	code, err := e.Exec(ctx, c, docker.Command{Argv: []string{"/probe", "cat"}}, bytes.NewReader(in), &out, &said)
	if err != nil || code != 0 || !bytes.Equal(out.Bytes(), in) || said.String() != fmt.Sprintf("read %d <nil>\n", len(in)) {
		t.Errorf("exit code %d, %v: %d bytes came back, and %q", code, err, out.Len(), said.String())
	}
	out.Reset()
	code, err = e.Exec(ctx, c, docker.Command{Argv: []string{"/probe", "env"}, User: "7:8", Dir: "/data", Env: []string{"COLOUR=red"}}, nil, &out, nil)
	if err != nil || code != 0 || !strings.HasSuffix(out.String(), " /data 7 8 red\n") {
		t.Errorf("exit code %d, %v: %q", code, err, out.String())
	}
	said.Reset()
	code, err = e.Exec(ctx, c, docker.Command{Argv: []string{"/probe", "exit", "9"}}, nil, nil, &said)
	if err != nil || code != 9 || said.String() != "ends with 9\n" {
		t.Errorf("exit code %d, %v: %q", code, err, said.String())
	}
	// A program that does not read what it is given.
	if code, err := e.Exec(ctx, c, docker.Command{Argv: []string{"/probe", "deaf"}}, bytes.NewReader(in), nil, nil); err != nil || code != 0 {
		t.Errorf("exit code %d, %v", code, err)
	}
	out.Reset()
	code, err = e.Exec(ctx, c, docker.Command{Argv: []string{"/missing"}}, nil, &out, &out)
	if err != nil || code != 126 && code != 127 || !strings.Contains(out.String(), "no such file") {
		t.Errorf("exit code %d, %v: %q", code, err, out.String())
	}
	_, err = e.Exec(ctx, name(), docker.Command{Argv: []string{"/probe"}}, nil, nil, nil)
	want(t, err, docker.NotFound)
	if err := e.Stop(ctx, c, 0); err != nil {
		t.Fatal(err)
	}
	_, err = e.Exec(ctx, c, docker.Command{Argv: []string{"/probe"}}, nil, nil, nil)
	want(t, err, docker.Conflict, "/probe", c)
}

func TestExecPipeIsAConversation(t *testing.T) {
	t.Parallel()
	ctx, e, c := bounded(t), engine(t), run(t, spec(t, "serve"))
	p, err := e.ExecPipe(ctx, c, docker.Command{Argv: []string{"/probe", "upper"}})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	r := bufio.NewReader(p)
	for i := range 5 {
		fmt.Fprintf(p, "question %d\n", i)
		if line, err := r.ReadString('\n'); line != fmt.Sprintf("QUESTION %d\n", i) {
			t.Fatalf("%q, %v", line, err)
		}
	}
	_ = p.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
	if _, err := r.ReadByte(); !is(err, os.ErrDeadlineExceeded) {
		t.Errorf("after the deadline: %v", err)
	}
	_ = p.SetReadDeadline(time.Time{})
	fmt.Fprintln(p, "and on")
	if line, err := r.ReadString('\n'); line != "AND ON\n" {
		t.Errorf("%q, %v", line, err)
	}
	if err := p.(interface{ CloseWrite() error }).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if rest, err := io.ReadAll(r); len(rest) > 0 || err != nil {
		t.Errorf("at the end: %q, %v", rest, err)
	}
}

func TestExecPipeTellsHowItEnded(t *testing.T) {
	t.Parallel()
	ctx, e, c := bounded(t), engine(t), run(t, spec(t, "serve"))
	p, err := e.ExecPipe(ctx, c, docker.Command{Argv: []string{"/probe", "exit", "5"}})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	_, err = io.ReadAll(p)
	want(t, err, docker.Other, "exit code 5", "ends with 5", c)
	if _, again := p.Read(make([]byte, 1)); again == nil || again.Error() != err.Error() {
		t.Errorf("a second read gives %v", again)
	}
	p, err = e.ExecPipe(ctx, c, docker.Command{Argv: []string{"/probe", "cat"}})
	if err != nil {
		t.Fatal(err)
	}
	p.Close()
	if _, err := p.Read(make([]byte, 1)); !is(err, net.ErrClosed) {
		t.Errorf("read after close gives %v", err)
	}
}
