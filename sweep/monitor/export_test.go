package monitor

import (
	"context"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"mlframework/sweep/api"
)

// Route is a row of the routes.
type Route struct {
	Method, Path string
	Needs        Role
}

// Routes returns all of them.
func Routes() (all []Route) {
	for _, r := range routes() {
		all = append(all, Route{r.method, r.path, r.needs})
	}
	return all
}

// Bounds that tests go up to.
const (
	BodyBytes   = maxBodyBytes
	SessionIdle = sessionIdleTimeout
	SessionLife = sessionMaxAge
	MostOfRole  = maxRoleSessions
	MostReaders = maxReaders
	MostTabs    = maxSessionReaders
)

// PointAt takes a filter apart at a column.
func PointAt(where string, column int) (before, at, after string) {
	w := pointAt(where, &api.Error{Column: column})
	return w.Before, w.At, w.After
}

// Panic makes the monitor panic when a path is asked for.
func (m *Monitor) Panic(path string) {
	m.mux.Handle("GET "+path,
		m.guarded(route{method: "GET", path: path,
			do: func(*Monitor, http.ResponseWriter, *request) error { panic("on purpose") }}))
}

// Topics returns how many topics are looked at.
func (m *Monitor) Topics() int {
	m.hub.mu.Lock()
	defer m.hub.mu.Unlock()
	return len(m.hub.topics)
}

// Readers returns how many streams are read.
func (m *Monitor) Readers() int {
	m.hub.mu.Lock()
	defer m.hub.mu.Unlock()
	return m.hub.readers
}

// How values become words.
var (
	Size  = size
	Count = count
	Rate  = rateText
)

// What a browser says, and what is made of it.
var (
	Next     = localPath
	HostOnly = hostOnly
)

// Reread reads what a URL asks for, and writes it as a URL has it. size is how many tasks a page of
// it has.
func Reread(r *http.Request) (text string, size int) {
	q := readQuery(r)
	return q.text(), q.size
}

// OpenToken returns the token of a state folder, and makes it if it is not there.
func OpenToken(state string) (string, error) {
	t, err := openTokens(state)
	return t.token, err
}

// MakeToken makes the file of a token, with a function that makes hard links.
var MakeToken = makeToken

// Edit returns how one text is made of another.
var Edit = edit

// ReadShown reads what a browser says that it has, and writes it as events have it.
func ReadShown(text string) string { return readShown(text).String() }

// LastLines returns the end of a text as a page shows it.
var LastLines = lastLines

// DrawCurve returns the drawing of a metric by steps; "": there is none.
func DrawCurve(name string, points [][2]float64) string {
	var all []point
	for _, p := range points {
		all = append(all, point{p[0], p[1]})
	}
	return drawn("curve", newCurve(name, "step", all))
}

// DrawPlot returns the drawing of curves by their labels; those whose label ends in a dot go on.
func DrawPlot(labels []string, curves [][][2]float64) string {
	var lines []drawnLine
	for i, c := range curves {
		l := drawnLine{label: labels[i], title: "task " + labels[i], url: "/tasks/" + labels[i],
			class: "own own-" + strconv.Itoa(i), goesOn: strings.HasSuffix(labels[i], ".")}
		for _, p := range c {
			l.points = append(l.points, point{p[0], p[1]})
		}
		lines = append(lines, l)
	}
	return drawn("plot", newPlot(drawing{caption: "loss <b> by step", by: "step", lines: lines}))
}

// drawn executes a template of drawings; "": there is nothing to draw.
func drawn[T any](name string, view *T) string {
	if view == nil {
		return ""
	}
	var out strings.Builder
	if err := parseTemplates()["task"].ExecuteTemplate(&out, name, view); err != nil {
		return err.Error()
	}
	return out.String()
}

// FirstDifference returns the first line in which texts differ.
var FirstDifference = firstDifference

// DrawLearningCurves returns the drawing of curves; "": there is none.
func DrawLearningCurves(a api.Curves) string {
	return drawn("plot", new(Monitor).learningCurves("train-1", a, false))
}

// DrawProgress returns the drawing of the best so far; "": there is none.
func DrawProgress(a api.Progress) string { return drawn("plot", new(Monitor).progress("train-1", a)) }

// AskRarely returns a function that asks about a sweep what takes as long as the function that it is
// given, which answers with its number, by a clock.
func AskRarely(now func() time.Time, f func() int) func(version int64, s api.Sweep) (int, time.Duration) {
	m := newAnswers(now, slog.New(slog.DiscardHandler))
	return func(version int64, s api.Sweep) (int, time.Duration) {
		r, due, err := askRarely(context.Background(), m, rareKey("question", s, ""), version,
			func(context.Context) (int, error) { return f(), nil })
		if err != nil {
			panic(err)
		}
		return r.value, due
	}
}

// Actions returns the paths of everything that operators do.
func Actions() (paths []string) {
	for at, all := range map[string][]action{"/sweeps/{sweep}/": sweepActions,
		"/sweeps/{sweep}/tasks/{index}/": taskActions, "/workers/{worker}/": workerActions} {
		for _, a := range all {
			paths = append(paths, at+a.name)
		}
	}
	return paths
}

// DrawParallel returns parallel coordinates; "": there are none.
func DrawParallel(p api.Points, order []string) string {
	return drawn("parallel-drawing", parallel(p, varying(p, order),
		func(index int64) string { return "/tasks/" + strconv.FormatInt(index, 10) },
		func(term string) string { return "?where=" + term }))
}
