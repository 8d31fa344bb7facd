package api

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"mlframework/sweep/task"
)

// OutputOptions select the output of a task.
type OutputOptions struct {
	Attempt int // 0: the newest that began
	Stderr  bool
	Offset  int64 // where to begin, in bytes
	// Follow continues until the task, or the given attempt, has ended. With the client's
	// OnDisconnect it also resumes, at the offset it reached, after the connection to the master or
	// to the worker that has the output was lost.
	Follow bool
}

// Output copies the output of a task to a writer. The error is *Error with status 404 if it has
// none, and 410 if the task's folder no longer exists.
func (c *Client) Output(ctx context.Context, id task.ID, p OutputOptions, to io.Writer) error {
	onDisconnect := c.OnDisconnect
	if !p.Follow {
		onDisconnect = nil
	}
	for file := ""; ; {
		from := file
		// The worker that has the output may be unreachable for a moment, as after a restart of
		// the master.
		transient := func(err error) bool {
			e, refused := errors.AsType[*Error](err)
			return !refused || e.Status == http.StatusServiceUnavailable && file != ""
		}
		err := retryTransient(ctx, onDisconnect, transient,
			func(connected func()) error { return c.copyOutput(ctx, id, &p, &file, connected, to) })
		sameFile := file == from // nothing follows
		if err != nil || !p.Follow || p.Attempt > 0 || sameFile {
			return err
		}
	}
}

// OutputTail returns the end of the output of a task, at most n bytes, and where in the output it
// begins; Offset and Follow must not be set. The errors are those of Output.
func (c *Client) OutputTail(ctx context.Context, id task.ID, p OutputOptions, n int) (text []byte,
	offset int64, err error) {
	q := url.Values{}
	setNumber(q, "attempt", p.Attempt)
	if p.Stderr {
		q.Set("stream", "stderr")
	}
	setNumber(q, "tail", n)
	answer, err := c.once(ctx, http.MethodGet, taskPath(id.Sweep, id.Index)+"/output", q, nil, "")
	if err != nil {
		return nil, 0, err
	}
	defer answer.Body.Close()
	if offset, err = strconv.ParseInt(answer.Header.Get(OffsetHeader), 10, 64); err != nil {
		return nil, 0, errors.New("the master does not say where the end of the output begins")
	}
	// what is printed meanwhile comes with the next answer
	text, err = io.ReadAll(io.LimitReader(answer.Body, int64(n)))
	return text, offset, err
}

// OutputHead returns the beginning of the output of a task, at most n bytes; Offset and Follow must
// not be set. The errors are those of Output.
func (c *Client) OutputHead(ctx context.Context, id task.ID, p OutputOptions, n int) ([]byte,
	error) {
	q := url.Values{}
	setNumber(q, "attempt", p.Attempt)
	if p.Stderr {
		q.Set("stream", "stderr")
	}
	answer, err := c.once(ctx, http.MethodGet, taskPath(id.Sweep, id.Index)+"/output", q, nil, "")
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close() // it ends the answer where there is more
	return io.ReadAll(io.LimitReader(answer.Body, int64(n)))
}

// copyOutput copies the answer to one request, and records how far it got: file and p.Offset.
func (c *Client) copyOutput(ctx context.Context, id task.ID, p *OutputOptions, file *string,
	connected func(),
	to io.Writer) error {
	q := url.Values{}
	if setNumber(q, "attempt", p.Attempt); p.Attempt == 0 {
		set(q, "file", *file)
	}
	if p.Stderr {
		q.Set("stream", "stderr")
	}
	set(q, "offset", strconv.FormatInt(p.Offset, 10))
	setFlag(q, "follow", p.Follow)
	answer, err := c.once(ctx, http.MethodGet, taskPath(id.Sweep, id.Index)+"/output", q, nil, "")
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	connected()
	switch now := answer.Header.Get(FileHeader); {
	case *file == "":
		*file = now
	case now != *file:
		*file, p.Offset = now, 0
	}
	_, err = io.Copy(&offsetWriter{to, &p.Offset}, answer.Body)
	return err
}

// offsetWriter adds the bytes written to an offset.
type offsetWriter struct {
	to io.Writer
	at *int64
}

func (p *offsetWriter) Write(b []byte) (int, error) {
	n, err := p.to.Write(b)
	if *p.at += int64(n); err != nil {
		err = permanentError{err}
	}
	return n, err
}
