package monitor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"mlframework/sweep/api"
	"mlframework/sweep/failure"
	"mlframework/sweep/human"
	"mlframework/sweep/task"
)

// How much of an output a page shows, of how many bytes at its end, and how long their worker may
// take to send these.
const (
	linesShown   = 40
	tailBytes    = 32 << 10
	maxLineRunes = 2000
	tailTimeout  = 4 * time.Second
)

// The streams of a task, as URLs and the API name them.
const (
	stdout = "stdout"
	stderr = "stderr"
)

// outputView is the end of what an attempt printed to one of its streams.
type outputView struct {
	Tabs     []tab
	Stream   string
	Lines    []string
	Size     string // of all of it
	Cut      bool   // Lines are not all
	Note     string // why there are none
	Download string
	Live     bool // more may come
}

// tab leads to one of several views of the same.
type tab struct {
	Label, Detail, URL string
	Current            bool
}

// tail is the end of an output as the master answered it.
type tail struct {
	text   []byte
	offset int64
	note   string // why there is none
}

// askTail asks for the end of an output. That it cannot be had is no fault of the page.
func (m *Monitor) askTail(ctx context.Context, id task.ID, attempt int, stream string,
	version int64) (tail, error) {
	return m.askOutput(ctx, fmt.Sprintf("tail %s %d %s", id, attempt, stream), stream, version,
		func(ctx context.Context, t *tail) (err error) {
			t.text, t.offset, err = m.o.Master.OutputTail(ctx, id,
				api.OutputOptions{Attempt: attempt, Stderr: stream == stderr}, tailBytes)
			return err
		})
}

// askOutput asks for a part of an output with a function that reads it.
func (m *Monitor) askOutput(ctx context.Context, key, stream string, version int64,
	read func(context.Context, *tail) error) (tail, error) {
	r, err := ask(ctx, m.answers, key, version, func(ctx context.Context) (t tail, err error) {
		ctx, cancel := context.WithTimeout(ctx, tailTimeout)
		defer cancel()
		err = read(ctx, &t)
		e, refused := errors.AsType[*api.Error](err)
		switch {
		case refused && e.Status == http.StatusNotFound:
			t.note = "Nothing was printed to " + stream + "."
		case refused:
			t.note = human.Visible(e.Text) + "."
		case errors.Is(err, context.DeadlineExceeded):
			t.note = "The worker that has it does not answer."
		default:
			return t, err
		}
		return t, nil
	})
	return r.value, err
}

// lastLines returns the last lines of a text, at most n, as a terminal would leave them: of a
// progress bar, which returns to the beginning of its line again and again, its last state. Headless
// is a text whose first line began before it.
func lastLines(text []byte, headless bool, n int) (lines []string) {
	text = bytes.TrimSuffix(text, []byte("\n"))
	if len(text) == 0 {
		return nil
	}
	all := bytes.Split(text, []byte("\n"))
	if headless && len(all) > 1 {
		all = all[1:]
	}
	for _, line := range all[max(0, len(all)-n):] {
		lines = append(lines, shownLine(line))
	}
	return lines
}

// shownLine returns a line as a terminal would leave it, cut where it is long.
func shownLine(line []byte) string {
	line = bytes.TrimRight(line, "\r")
	line = line[bytes.LastIndexByte(line, '\r')+1:]
	shown := []rune(failure.Clean(line))
	if len(shown) > maxLineRunes {
		shown = append(shown[:maxLineRunes], '…')
	}
	return string(shown)
}

// outputOf returns what a task printed in the attempt and to the stream that a URL names; nil where
// no attempt has begun.
func (m *Monitor) outputOf(r *request, t api.Task, id task.ID, running bool) (*outputView, error) {
	a, number := chosenAttempt(r, t)
	if a == nil || a.Started == nil {
		return nil, nil
	}
	stream := r.URL.Query().Get("stream")
	if stream != stdout && stream != stderr {
		stream = stdout
		failed := a.Class != nil && *a.Class != task.Success
		if failed && (a.Stderr == nil || a.Stderr.Bytes > 0) {
			stream = stderr // says why
		}
	}
	got, err := m.askTail(r.Context(), id, number, stream, r.version)
	if err != nil {
		return nil, err
	}
	v := outputView{Stream: stream, Note: got.note, Live: running && a.Class == nil,
		Lines: lastLines(got.text, got.offset > 0, linesShown)}
	whole := got.offset + int64(len(got.text))
	v.Size = size(whole)
	v.Cut = got.offset > 0 || bytes.Count(got.text, []byte("\n")) > linesShown
	if whole > 0 {
		v.Download = m.taskURL(id.Sweep, id.Index) + "/output" + outputQuery(number, stream)
	}
	v.Tabs = []tab{{Label: stdout}, {Label: stderr}}
	for i, printed := range []*task.Output{a.Stdout, a.Stderr} {
		one := &v.Tabs[i]
		one.Current = one.Label == stream
		one.URL = m.taskURL(id.Sweep, id.Index) + outputQuery(number, one.Label)
		if printed != nil {
			one.Detail = size(printed.Bytes)
		}
	}
	return &v, nil
}

// outputQuery names an attempt, 0 for the newest, and a stream in a URL.
func outputQuery(attempt int, stream string) string {
	q := url.Values{"stream": {stream}}
	if attempt > 0 {
		q.Set("attempt", strconv.Itoa(attempt))
	}
	return "?" + q.Encode()
}

// chosenAttempt returns the attempt that a URL names, and its number; without a word about it the
// newest one, and 0. It is nil where there is no attempt.
func chosenAttempt(r *request, t api.Task) (a *api.Attempt, number int) {
	asked, _ := strconv.Atoi(r.URL.Query().Get("attempt")) // what is none is the newest
	for i := range t.Attempts {
		if a = &t.Attempts[i]; a.Attempt == asked {
			return a, asked
		}
	}
	return a, 0
}

// output sends what an attempt printed, as it printed it, for the browser to keep as a file.
func (m *Monitor) output(w http.ResponseWriter, r *request) error {
	id, err := taskOf(r)
	if err != nil {
		return err
	}
	q := r.URL.Query()
	stream := stdout
	if q.Get("stream") == stderr {
		stream = stderr
	}
	attempt, _ := strconv.Atoi(q.Get("attempt")) // what is none is the newest
	to := &download{w: w, name: fmt.Sprintf("%s-%d.%s.log", id.Sweep, id.Index, stream)}
	err = m.o.Master.Output(r.Context(), id, api.OutputOptions{Attempt: max(0, attempt),
		Stderr: stream == stderr}, to)
	if err != nil && to.begun {
		panic(http.ErrAbortHandler) // a file that is cut off does not look whole
	}
	return err
}

// download is an answer that a browser keeps as a file. It may take as long as the browser reads.
type download struct {
	w     http.ResponseWriter
	name  string
	begun bool
}

func (d *download) Write(p []byte) (int, error) {
	if !d.begun {
		d.begun = true
		h := d.w.Header()
		h.Set("Content-Type", "application/octet-stream")
		h.Set("Content-Disposition", mime.FormatMediaType("attachment",
			map[string]string{"filename": d.name}))
	}
	// a recorder of tests has none
	_ = http.NewResponseController(d.w).SetWriteDeadline(time.Now().Add(writeTimeout))
	return d.w.Write(p)
}
