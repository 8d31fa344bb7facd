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

// Printed says which of a task's output is wanted.
type Printed struct {
	Attempt int // 0: the newest that began
	Stderr  bool
	Offset  int64 // where to begin, in bytes
	// Follow goes on until the task, or the attempt that is named, has ended; with the Away of the
	// Client also when the master, or the worker that has the output, goes away and comes back,
	// from the place that was reached.
	Follow bool
}

// Output copies what a task printed. The error is *Error with status 404 when it has printed
// nothing.
func (c *Client) Output(ctx context.Context, id task.ID, p Printed, to io.Writer) error {
	away := c.Away
	if !p.Follow {
		away = nil
	}
	for file := ""; ; {
		from := file
		// The worker that has the output may be away for a moment, as behind a restart of the
		// master.
		passes := func(err error) bool {
			e, refused := errors.AsType[*Error](err)
			return !refused || e.Status == http.StatusServiceUnavailable && file != ""
		}
		err := persist(ctx, away, passes,
			func(here func()) error { return c.copyOutput(ctx, id, &p, &file, here, to) })
		sameFile := file == from // nothing follows
		if err != nil || !p.Follow || p.Attempt > 0 || sameFile {
			return err
		}
	}
}

// copyOutput copies the answer to one request, and keeps the place that it reached: p.Offset in a
// file.
func (c *Client) copyOutput(ctx context.Context, id task.ID, p *Printed, file *string, here func(),
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
	here()
	switch now := answer.Header.Get(FileHeader); {
	case *file == "":
		*file = now
	case now != *file:
		*file, p.Offset = now, 0
	}
	_, err = io.Copy(&placed{to, &p.Offset}, answer.Body)
	return err
}

// placed counts what was written.
type placed struct {
	to io.Writer
	at *int64
}

func (p *placed) Write(b []byte) (int, error) {
	n, err := p.to.Write(b)
	if *p.at += int64(n); err != nil {
		err = own{err}
	}
	return n, err
}
