package api

import (
	"bufio"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"mlframework/sweep/core"
	"mlframework/sweep/table"
)

// sweepPath is the path of a sweep; "" is the newest.
func sweepPath(id string) string { return "/sweeps/" + url.PathEscape(cmp.Or(id, Newest)) }

func taskPath(id string, index int64) string {
	return sweepPath(id) + "/tasks/" + strconv.FormatInt(index, 10)
}

// Health asks what answers.
func (c *Client) Health(ctx context.Context) (h Health, err error) {
	return h, c.get(ctx, "/health", nil, &h)
}

// Ready asks whether a sweep that is submitted would run. That it would not is no error.
func (c *Client) Ready(ctx context.Context) (r Readiness, err error) {
	err = c.get(ctx, "/ready", nil, &r)
	if e, ok := errors.AsType[*Error](err); ok && e.Status == http.StatusServiceUnavailable && json.Unmarshal(e.body, &r) == nil && len(r.Reasons) > 0 {
		return r, nil
	}
	return r, err
}

// Broker asks how the queue is reached.
func (c *Client) Broker(ctx context.Context) (b Broker, err error) {
	return b, c.get(ctx, "/broker", nil, &b)
}

// Sweeps returns sweeps, the oldest first: those after a sweep, "" for the first, and at most
// limit, 0 for all.
func (c *Client) Sweeps(ctx context.Context, after string, limit int) ([]core.Summary, error) {
	q := url.Values{}
	set(q, "after", after)
	setNumber(q, "limit", limit)
	var list SweepList
	err := c.get(ctx, "/sweeps", q, &list)
	return list.Sweeps, err
}

// Sweep returns a sweep; checks asks for what is worth a warning, too, which costs a look at all of
// its tasks.
func (c *Client) Sweep(ctx context.Context, id string, checks bool) (s Sweep, err error) {
	q := url.Values{}
	setFlag(q, "checks", checks)
	return s, c.get(ctx, sweepPath(id), q, &s)
}

// Task returns one task of a sweep, with its attempts.
func (c *Client) Task(ctx context.Context, id string, index int64) (t Task, err error) {
	return t, c.get(ctx, taskPath(id, index), nil, &t)
}

// Tasks returns a page of the tasks that q chooses.
func (c *Client) Tasks(ctx context.Context, id string, q Query) (p Page, err error) {
	v := q.values()
	setNumber(v, "limit", q.Limit)
	set(v, "after", q.After)
	return p, c.get(ctx, sweepPath(id)+"/tasks", v, &p)
}

// AllTasks returns a page of the tasks of all sweeps that q chooses: the newest sweep's first, or
// in the order of a column. Begun, Best and Top must not be set.
func (c *Client) AllTasks(ctx context.Context, q Query) (p AllTasks, err error) {
	v := q.values()
	setNumber(v, "limit", q.Limit)
	set(v, "after", q.After)
	return p, c.get(ctx, "/tasks", v, &p)
}

// Rows calls each with every task that q chooses, in order, until each returns an error.
func (c *Client) Rows(ctx context.Context, id string, q Query, each func(*table.Row) error) error {
	body, err := c.table(ctx, id, q, JSON)
	if err != nil {
		return err
	}
	defer body.Close()
	var r table.Row
	for lines := bufio.NewReaderSize(body, 64<<10); ; {
		line, err := lines.ReadBytes('\n')
		if err == io.EOF && len(line) == 0 {
			return nil
		}
		if err != nil && err != io.EOF {
			return err
		}
		if err := table.ReadRow(line, &r); err != nil {
			return err
		}
		if err := each(&r); err != nil {
			return err
		}
	}
}

// Results writes a table of the tasks that q chooses.
func (c *Client) Results(ctx context.Context, id string, q Query, f Format, w io.Writer) error {
	body, err := c.table(ctx, id, q, f)
	if err != nil {
		return err
	}
	defer body.Close()
	_, err = io.Copy(w, body)
	return err
}

func (c *Client) table(ctx context.Context, id string, q Query, f Format) (io.ReadCloser, error) {
	v := q.values()
	v.Set("format", string(f))
	return c.open(ctx, sweepPath(id)+"/results", v)
}

// Missing returns the points of a record of which no task has succeeded with the same command and
// code.
func (c *Client) Missing(ctx context.Context, r core.Record, code string, same ...string) (m Missing, err error) {
	text, err := encode(Submission{Record: r, Code: code, Same: same})
	if err != nil {
		return m, err
	}
	_, err = c.exchange(ctx, "", http.MethodPost, "/missing", nil, text, &m)
	return m, err
}

// Submit keeps a sweep and begins it, for a client that is about to follow it in some detail; "":
// it is not. When it returns, the sweep survives any crash of the master. A submission that is
// repeated under the same key makes one sweep; "" is a new key.
func (c *Client) Submit(ctx context.Context, s Submission, key string, f Detail) (StartedSweep,
	error) {
	s.Environ = c.Environ
	return c.begin(ctx, key, "/sweeps", s, f)
}

func (c *Client) begin(ctx context.Context, key, path string, body any, f Detail) (b StartedSweep,
	err error) {
	text, err := encode(body)
	if err != nil {
		return b, err
	}
	q := url.Values{}
	set(q, "follow", string(f))
	h, err := c.writeAs(ctx, cmp.Or(key, rand.Text()), http.MethodPost, path, q, text, &b.Summary)
	b.Events = h.Get(EventHeader)
	return b, err
}

// Cancel ends a sweep.
func (c *Client) Cancel(ctx context.Context, id string) (s core.Summary, err error) {
	return s, c.write(ctx, http.MethodPost, sweepPath(id)+"/cancel", nil, nil, &s)
}

// CancelTask ends one task.
func (c *Client) CancelTask(ctx context.Context, id string, index int64) (s core.Summary, err error) {
	return s, c.write(ctx, http.MethodPost, taskPath(id, index)+"/cancel", nil, nil, &s)
}

// Pause hands out nothing more of a sweep; with stop what runs is stopped too.
func (c *Client) Pause(ctx context.Context, id string, stop bool) (s core.Summary, err error) {
	q := url.Values{}
	setFlag(q, "stop", stop)
	return s, c.write(ctx, http.MethodPost, sweepPath(id)+"/pause", q, nil, &s)
}

// Resume hands out the tasks of a paused sweep again.
func (c *Client) Resume(ctx context.Context, id string, g ResumeRequest, f Detail) (StartedSweep,
	error) {
	g.Environ = c.Environ
	return c.begin(ctx, "", sweepPath(id)+"/resume", g, f)
}

// Retry makes tasks pending again that ended other than well.
func (c *Client) Retry(ctx context.Context, id string, g ResumeRequest, f Detail) (StartedSweep,
	error) {
	g.Environ = c.Environ
	return c.begin(ctx, "", sweepPath(id)+"/retry", g, f)
}

// Workers lists the workers by name.
func (c *Client) Workers(ctx context.Context) ([]core.Worker, error) {
	var list WorkerList
	err := c.get(ctx, "/workers", nil, &list)
	return list.Workers, err
}

func workerPath(name string) string { return "/workers/" + url.PathEscape(name) }

// Drain lets a worker finish what runs and take nothing new; off undoes it.
func (c *Client) Drain(ctx context.Context, worker string, off bool) (w core.Worker, err error) {
	verb := "/drain"
	if off {
		verb = "/resume"
	}
	return w, c.write(ctx, http.MethodPost, workerPath(worker)+verb, nil, nil, &w)
}

// Resize changes how many attempts a worker runs at a time; 0 is what it was started with.
func (c *Client) Resize(ctx context.Context, worker string, slots int) (w core.Worker, err error) {
	return w, c.write(ctx, http.MethodPost, workerPath(worker)+"/slots", url.Values{"n": {strconv.Itoa(slots)}}, nil, &w)
}

// Forget drops a worker that is away, and its queue.
func (c *Client) Forget(ctx context.Context, worker string) error {
	return c.write(ctx, http.MethodDelete, workerPath(worker), nil, nil, nil)
}

func set(v url.Values, name, text string) {
	if text != "" {
		v.Set(name, text)
	}
}

func setFlag(v url.Values, name string, on bool) {
	if on {
		v.Set(name, "true")
	}
}

// setNumber leaves out 0; what is negative goes as it is, to be refused.
func setNumber(v url.Values, name string, n int) {
	if n != 0 {
		v.Set(name, strconv.Itoa(n))
	}
}
