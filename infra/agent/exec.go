package agent

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// Exec asks for a program to be run.
type Exec struct {
	Argv []string `json:"argv"` // as they are: nothing in them is expanded
}

// Exit is how a program ended. It comes in the trailer ExitTrailer of an answer whose body is what
// the program printed.
type Exit struct {
	Code   int    `json:"code"`   // 0: it ended well, unless there is a signal
	Signal string `json:"signal"` // that ended it: "terminated"; "": none
	Stderr []byte `json:"stderr"` // the last MaxStderr of it
}

// ExitTrailer has an Exit as JSON in base64.
const ExitTrailer = "Exit"

// MaxStderr is how much of an error output is kept, in bytes.
const MaxStderr = 4 << 10

// ExitError is a program that ran and failed.
type ExitError struct {
	Host, Program string
	Exit
}

func (e *ExitError) Error() string {
	how := fmt.Sprintf("exit status %d", e.Code)
	if e.Signal != "" {
		how = "ended by the signal " + e.Signal
	}
	s := fmt.Sprintf("run %s on %s: %s", e.Program, e.Host, how)
	if text := strings.TrimSpace(string(e.Stderr)); text != "" {
		s += ": " + text
	}
	return s
}

// Output runs a program on the host, and returns its output: all that it wrote, however slowly that
// is read. Reading ends with io.EOF where the program exited with status 0, and with an *ExitError
// where it did not. Processes that it leaves behind go on, and what they write within two seconds
// is part of the output. Close, and the end of ctx, end the program with its process group. One
// that cannot be started is an *Error.
func (c *Client) Output(ctx context.Context, argv ...string) (io.ReadCloser, error) {
	text, err := json.Marshal(Exec{argv})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	answer, err := c.Do(ctx, http.MethodPost, "/exec", bytes.NewReader(text))
	if err != nil {
		cancel()
		return nil, err
	}
	return &output{c.host, argv[0], ctx, answer, cancel}, nil
}

// output is what a program prints.
type output struct {
	host, program string
	ctx           context.Context // of the request
	answer        *http.Response
	cancel        context.CancelFunc
}

func (o *output) Read(p []byte) (int, error) {
	n, err := o.answer.Body.Read(p)
	switch {
	case errors.Is(err, io.EOF):
		err = o.end()
	case err != nil && o.ctx.Err() != nil:
		err = context.Cause(o.ctx)
	}
	return n, err
}

// end returns how the program ended; io.EOF is well.
func (o *output) end() error {
	e := &ExitError{Host: o.host, Program: o.program}
	text, err := base64.StdEncoding.DecodeString(o.answer.Trailer.Get(ExitTrailer))
	if err == nil {
		err = json.Unmarshal(text, &e.Exit)
	}
	switch {
	case err != nil:
		return fmt.Errorf("run %s on %s: %w", o.program, o.host, io.ErrUnexpectedEOF)
	case e.Code == 0 && e.Signal == "":
		return io.EOF
	}
	return e
}

func (o *output) Close() error {
	o.cancel()
	return o.answer.Body.Close()
}
