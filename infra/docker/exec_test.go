package docker_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"mlframework/infra/docker"
)

func is(err, target error) bool { return errors.Is(err, target) }

func TestExec(t *testing.T) {
	t.Parallel()
	ctx, e, c := bounded(t), engine(t), run(t, spec(t, "serve"))
	in := make([]byte, 3<<20)
	_, _ = rand.Read(in)
	var out, said bytes.Buffer
	code, err := e.Exec(ctx, c, docker.Command{Argv: []string{"/probe", "cat"}},
		bytes.NewReader(in), &out, &said)
	if err != nil || code != 0 || !bytes.Equal(out.Bytes(), in) ||
		said.String() != fmt.Sprintf("read %d <nil>\n", len(in)) {
		t.Errorf("exit code %d, %v: %d bytes came back, and %q", code, err, out.Len(),
			said.String())
	}
	out.Reset()
	code, err = e.Exec(ctx, c, docker.Command{Argv: []string{"/probe", "env"}, User: "7:8",
		Dir: "/data", Env: []string{"COLOUR=red"}}, nil, &out, nil)
	if err != nil || code != 0 || !strings.HasSuffix(out.String(), " /data 7 8 red\n") {
		t.Errorf("exit code %d, %v: %q", code, err, out.String())
	}
	said.Reset()
	code, err = e.Exec(ctx, c, docker.Command{Argv: []string{"/probe", "exit", "9"}}, nil, nil,
		&said)
	if err != nil || code != 9 || said.String() != "ends with 9\n" {
		t.Errorf("exit code %d, %v: %q", code, err, said.String())
	}
	// A program that does not read what it is given.
	if code, err := e.Exec(ctx, c, docker.Command{Argv: []string{"/probe", "deaf"}},
		bytes.NewReader(in), nil, nil); err != nil || code != 0 {
		t.Errorf("exit code %d, %v", code, err)
	}
	// Its input need not end before it does.
	open, end := io.Pipe()
	defer end.Close()
	if code, err := e.Exec(ctx, c, docker.Command{Argv: []string{"/probe", "exit", "4"}}, open, nil,
		nil); err != nil || code != 4 {
		t.Errorf("exit code %d, %v", code, err)
	}
	// With a terminal, output comes by one stream, and stdin need not end.
	out.Reset()
	stdin, w := io.Pipe()
	defer w.Close()
	resized := make(chan os.Signal, 1)
	resized <- os.Interrupt
	code, err = e.Exec(ctx, c, docker.Command{Argv: []string{"/probe", "exit", "9"},
		TTY: &docker.TTY{Size: func() (int, int) { return 24, 80 }, Resized: resized}}, stdin, &out,
		nil)
	if err != nil || code != 9 || out.String() != "ends with 9\r\n" {
		t.Errorf("exit code %d, %v: %q", code, err, out.String())
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
