package api

import (
	"bufio"
	"cmp"
	"context"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"mlframework/sweep/core"
	"mlframework/sweep/metric"
	"mlframework/sweep/table"
	"mlframework/sweep/task"
)

// The JSON names of the types here are the contract of the API; docs/api.yaml says what each means.

// Sweep is a sweep and what is needed to show it.
type Sweep struct {
	core.Summary
	Record core.Record `json:"record"`
	Issued int64       `json:"begun"` // tasks that were handed out at least once, or ended
	Checks *Checks     `json:"checks"`
}

// Checks is what is worth a warning about the results of a sweep. It costs a look at all of its
// tasks.
type Checks struct {
	// tasks by the revision that their newest attempt ran
	Revisions map[string]int64 `json:"revisions"`
	// tasks that succeeded without a number for the objective
	Unranked int64   `json:"unranked"`
	NaN      int64   `json:"nan"`   // those of them that reported nan for it
	First    []int64 `json:"first"` // the first of them
	core.ResultChecks
}

// Task is one task with its attempts.
type Task struct {
	Row      table.Row `json:"task"`
	Attempts []Attempt `json:"attempts"` // the oldest first
	// the first attempt whose values count for the newest; 0: all do
	Since  int             `json:"since,omitempty"`
	Series []metric.Sample `json:"series"` // every number that the newest attempt printed
}

// WaitsFor returns what a task of a sweep waits for, or what is wrong while it runs, for people; ""
// if nothing is known, and of a task that has ended.
func (t Task) WaitsFor(s core.Summary) string {
	state, err := task.ParseState(t.Row.State)
	if err != nil || state.Terminal() {
		return ""
	}
	ended := "" // why its last attempt ended, which belongs to that attempt
	if n := len(t.Attempts); n > 0 && t.Attempts[n-1].Reason != nil {
		ended = *t.Attempts[n-1].Reason
	}
	switch {
	case t.Row.Reason != "" && t.Row.Reason != ended:
		return t.Row.Reason
	case state == task.Running:
		return ""
	case s.State == core.Paused:
		return s.ID + " is paused (to continue: run-tasks resume " + s.ID + ")"
	case s.Waits != nil:
		return *s.Waits
	}
	return ""
}

// Attempt is one try at a task.
type Attempt struct {
	Attempt    int             `json:"attempt"`
	Class      *task.Class     `json:"class"` // null while it runs
	Reason     *string         `json:"reason"`
	Frame      *string         `json:"frame"` // where in the user's code the exception was raised
	ExitCode   *int            `json:"exit_code"`
	Worker     string          `json:"worker"` // that it was handed to
	Host       *string         `json:"host"`   // null: it is not known to have begun
	Slot       *int            `json:"slot"`
	GPUs       []task.Device   `json:"gpus,omitempty"` // that it was given
	Started    *time.Time      `json:"started"`
	Duration   *float64        `json:"duration"` // seconds
	Revision   string          `json:"revision"`
	Resumed    bool            `json:"resumed"`    // outputs of an earlier attempt were there
	Superseded bool            `json:"superseded"` // its result came too late, and does not count
	Metrics    metric.Final    `json:"metrics"`
	Infinite   metric.Infinite `json:"infinite,omitempty"`  // of Metrics
	Steps      metric.Steps    `json:"steps,omitempty"`     // of Metrics
	Positions  metric.Spans    `json:"positions,omitempty"` // of Metrics
	// of Metrics: the attempt that the value comes from
	ValueAttempts metric.Steps `json:"value_attempts,omitempty"`
	Stdout        *task.Output `json:"stdout"`
	Stderr        *task.Output `json:"stderr"`
	Unmeasured    []string     `json:"unmeasured,omitempty"` // why metrics of files are missing
	// of its metrics' values only some are in Series
	Thinned *metric.Thinned `json:"thinned,omitempty"`
}

// Page is some of a sweep's tasks.
type Page struct {
	Tasks []table.Row `json:"tasks"`
	Next  string      `json:"next,omitempty"` // the After of the next page; "": this was the last
}

// AllTasks is some of the tasks of all sweeps.
type AllTasks struct {
	Tasks []table.Row `json:"tasks"`
	Next  string      `json:"next,omitempty"` // the After of the next page; "": this was the last
	// Searched is how many sweeps were looked through to their end for the page. The next page goes
	// on behind them, but in the order of a column every page is made from the same.
	Searched int `json:"searched"`
	// WithoutColumn is how many of these do not have a column that the query names, and so no
	// tasks.
	WithoutColumn int `json:"without_column"`
}

// Newest is the name under which the newest sweep is found. No sweep has it as its id.
const Newest = "newest"

// SweepList answers a question for sweeps.
type SweepList struct {
	Sweeps []core.Summary `json:"sweeps"` // the oldest first
}

// sweepPath is the path of a sweep; "" is the newest.
func sweepPath(id string) string { return "/sweeps/" + url.PathEscape(cmp.Or(id, Newest)) }

func taskPath(id string, index int64) string {
	return sweepPath(id) + "/tasks/" + strconv.FormatInt(index, 10)
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
// in the order of a column. Issued, Best and Top must not be set.
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
	var line []byte
	for lines := bufio.NewReaderSize(body, 64<<10); ; {
		line, err = readLine(lines, line, mostOfRow)
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

// Cancel ends a sweep.
func (c *Client) Cancel(ctx context.Context, id string) (s core.Summary, err error) {
	return s, c.write(ctx, http.MethodPost, sweepPath(id)+"/cancel", nil, nil, &s)
}

// CancelTask ends one task.
func (c *Client) CancelTask(ctx context.Context, id string,
	index int64) (s core.Summary, err error) {
	return s, c.write(ctx, http.MethodPost, taskPath(id, index)+"/cancel", nil, nil, &s)
}

// Pause hands out nothing more of a sweep; with stop what runs is stopped too.
func (c *Client) Pause(ctx context.Context, id string, stop bool) (s core.Summary, err error) {
	q := url.Values{}
	setFlag(q, "stop", stop)
	return s, c.write(ctx, http.MethodPost, sweepPath(id)+"/pause", q, nil, &s)
}

// Prioritize changes the priority of a sweep: those of a higher one go first.
func (c *Client) Prioritize(ctx context.Context, id string,
	priority int) (s core.Summary, err error) {
	return s, c.write(ctx, http.MethodPost, sweepPath(id)+"/priority",
		url.Values{"n": {strconv.Itoa(priority)}}, nil, &s)
}
