package main_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"mlframework/sweep/api"
	"mlframework/sweep/api/server"
	"mlframework/sweep/core"
	"mlframework/sweep/master"
	"mlframework/sweep/monitor"
	"mlframework/sweep/queue"
	"mlframework/sweep/queue/memory"
	"mlframework/sweep/space"
	"mlframework/sweep/store"
	"mlframework/sweep/task"
)

// scene is a master with its API, a monitor of it, and workers that do what the test says, on a
// queue in memory.
type scene struct {
	folder
	hub     *memory.Queue
	client  *api.Client
	monitor string // the URL
	browser *http.Client
	hands   map[string]*hand
	id      string // of its sweep
}

// silentAfter is the lease of a scene.
const silentAfter = 1200 * time.Millisecond

func newScene(t *testing.T) *scene {
	t.Helper()
	s := &scene{folder: folder{t, t.TempDir()}, hub: memory.NewEncoding(),
		hands: map[string]*hand{}}
	st, err := store.Open(t.Context(), s.path("master"), "test")
	s.must(err)
	m := master.New(master.Options{Store: st, Queue: s.hub, Lease: silentAfter,
		Secrets: s.path("secrets")})
	l, err := server.Listen(s.path("m.sock"))
	s.must(err)
	server := server.New(server.Options{Master: m, Store: &st.Reader, Broker: s.hub,
		Program: "test"})
	s.client = api.Dial(s.path("m.sock"))
	pages, err := monitor.New(monitor.Options{Master: s.client, State: s.path("monitor")})
	s.must(err)
	port, err := net.Listen("tcp", "127.0.0.1:0")
	s.must(err)
	s.monitor = "http://" + port.Addr().String()
	ctx, stop := context.WithCancel(context.Background())
	var parts sync.WaitGroup
	for _, run := range []func() error{
		func() error { return m.Run(ctx) },
		func() error { return server.Run(ctx, l) },
		func() error { return pages.Run(ctx, port) },
	} {
		parts.Go(func() {
			if err := run(); err != nil && ctx.Err() == nil {
				t.Error(err)
			}
		})
	}
	t.Cleanup(func() {
		stop()
		parts.Wait()
		s.client.Close()
		s.must(st.Close())
	})
	return s
}

func (s *scene) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// submit submits a sweep of one task.
func (s *scene) submit(retry task.Retry) {
	s.t.Helper()
	sp, _, err := space.Read("parameters.yml", []byte("x: 1\n"))
	s.must(err)
	made, err := s.client.Submit(s.t.Context(), api.Submission{Code: "c",
		Record: core.Record{Version: task.Version, Space: sp, Retry: retry,
			Project: s.dir, Recipe: task.Recipe{Definition: "work", Command: []string{"work"},
				Revision: "r"}}}, "", "")
	s.must(err)
	s.id = made.ID
}

// task is what the API says of the scene's only task.
func (s *scene) task() api.Task {
	s.t.Helper()
	t, err := s.client.Task(s.t.Context(), s.id, 0)
	s.must(err)
	return t
}

// becomes waits until the task is in a state and has so many attempts listed.
func (s *scene) becomes(state string, listed int) {
	s.t.Helper()
	eventually(s.t, deadline, fmt.Sprintf("the task is %s and has %d attempts", state, listed),
		func() bool {
			t := s.task()
			return t.Row.State == state && len(t.Attempts) == listed
		})
}

// row is what the monitor shows of the task, by the label of the column.
func (s *scene) row() map[string]string {
	s.t.Helper()
	if s.browser == nil {
		s.login()
	}
	_, page := s.ask(http.MethodGet, "/sweeps/"+s.id, nil)
	_, page, _ = strings.Cut(page, `<table class="tasks">`)
	found := map[string]string{}
	labels := cells.FindAllStringSubmatch(between(page, "<thead>", "</thead>"), -1)
	values := cells.FindAllStringSubmatch(between(page, "<tbody", "</tbody>"), -1)
	for n, label := range labels {
		if n < len(values) {
			found[plainText(label[1])] = plainText(values[n][1])
		}
	}
	return found
}

var (
	cells = regexp.MustCompile(`(?s)<t[hd][ >](.*?)</t[hd]>`)
	tags  = regexp.MustCompile(`(?s)^[^<>]*>|<[^>]*>`)
)

func plainText(cell string) string { return strings.TrimSpace(tags.ReplaceAllString("<"+cell, "")) }

func between(text, from, to string) string {
	_, text, _ = strings.Cut(text, from)
	text, _, _ = strings.Cut(text, to)
	return text
}

func (s *scene) login() {
	s.t.Helper()
	jar, err := cookiejar.New(nil)
	s.must(err)
	s.browser = &http.Client{Jar: jar, Transport: &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		}}
	secret, err := os.ReadFile(s.path("monitor/token"))
	s.must(err)
	form := url.Values{"token": {strings.TrimSpace(string(secret))}}
	if status, page := s.ask(http.MethodPost, "/login", form); status != http.StatusSeeOther {
		s.t.Fatalf("login: %d %s", status, page)
	}
}

func (s *scene) ask(method, path string, form url.Values) (status int, text string) {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.monitor+path,
		strings.NewReader(form.Encode()))
	s.must(err)
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", s.monitor)
	}
	answer, err := s.browser.Do(r)
	s.must(err)
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	s.must(err)
	return answer.StatusCode, string(body)
}

// hand is a worker of one slot that does what the test says. Of what attempts printed it has what
// it began itself.
type hand struct {
	s    *scene
	name string
	port queue.WorkerEndpoint

	mu    sync.Mutex
	got   []task.Attempt
	began []int // numbers of attempts
	beat  task.Heartbeat
	quiet bool // it sends no heartbeats
}

// worker makes a worker known.
func (s *scene) worker(name string) *hand {
	s.t.Helper()
	h := s.unstarted(name)
	h.join()
	s.ready(name)
	return h
}

// ready waits until the master gives a worker tasks.
func (s *scene) ready(name string) {
	s.t.Helper()
	eventually(s.t, deadline, name+" is ready", func() bool {
		all, err := s.client.Workers(s.t.Context())
		i := slices.IndexFunc(all, func(w core.Worker) bool { return w.Name == name })
		return err == nil && i >= 0 && all[i].State == core.WorkerReady
	})
}

// unstarted is a worker that the master does not know until it joins.
func (s *scene) unstarted(name string) *hand {
	s.t.Helper()
	h := &hand{s: s, name: name, port: s.hub.Worker(name)}
	s.hands[name] = h
	ctx, stop := context.WithCancel(context.Background())
	var parts sync.WaitGroup
	parts.Go(func() {
		for d := range h.port.Consume(ctx) {
			_ = d.Ack() // in memory it does not fail
			h.mu.Lock()
			h.got = append(h.got, d.Items[0].Attempts...)
			h.mu.Unlock()
		}
	})
	parts.Go(func() {
		for c := range h.port.Controls(ctx) {
			if c.Kind == task.ReadControl {
				_ = h.port.SendPiece(ctx, h.piece(c))
			}
		}
	})
	parts.Go(func() {
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for ctx.Err() == nil {
			h.mu.Lock()
			beat, quiet := h.beat, h.quiet
			h.mu.Unlock()
			if beat.Time = time.Now(); !quiet && beat.Incarnation != "" {
				_ = h.port.SendHeartbeat(ctx, beat)
			}
			select {
			case <-tick.C:
			case <-ctx.Done():
			}
		}
	})
	s.t.Cleanup(func() { stop(); parts.Wait() })
	return h
}

// starts is a start of the worker, after events that an earlier one kept. Told says that those are
// all there were.
func (h *hand) starts(incarnation string, told bool, kept ...task.Event) {
	h.s.t.Helper()
	beat := task.Heartbeat{Version: task.Version, Worker: h.name, Host: "host-" + h.name, Slots: 1,
		Incarnation: incarnation, Program: "test"}
	h.mu.Lock()
	h.beat, h.quiet = beat, false
	h.mu.Unlock()
	beat.StartsReported = told
	h.emit(append(kept, task.Event{Version: task.Version, Kind: task.JoinedEvent, Worker: h.name,
		Time: time.Now(), Heartbeat: &beat})...)
}

// silent ends its heartbeats.
func (h *hand) silent() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.quiet = true
}

// join starts it for the first time.
func (h *hand) join() {
	h.s.t.Helper()
	h.starts("1", false)
}

// comesBack ends its silence.
func (h *hand) comesBack() {
	h.s.t.Helper()
	h.mu.Lock()
	h.quiet = false
	h.mu.Unlock()
	h.s.ready(h.name)
}

func (h *hand) away() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.quiet
}

func (h *hand) emit(events ...task.Event) {
	h.s.t.Helper()
	h.s.must(h.port.Emit(h.s.t.Context(), events...))
}

func (h *hand) event(k task.EventKind, number int) task.Event {
	return task.Event{Version: task.Version, Kind: k, Worker: h.name, Sweep: h.s.id,
		Attempt: number, Time: time.Now()}
}

// gets waits until an attempt has come to it.
func (h *hand) gets(number int) {
	h.s.t.Helper()
	eventually(h.s.t, deadline, fmt.Sprintf("attempt %d comes to %s", number, h.name), func() bool {
		h.mu.Lock()
		defer h.mu.Unlock()
		return slices.ContainsFunc(h.got, func(a task.Attempt) bool { return a.Number == number })
	})
}

func (h *hand) claims(number int) {
	h.s.t.Helper()
	h.gets(number)
	h.emit(h.event(task.ClaimedEvent, number))
}

func (h *hand) begins(number int) {
	h.s.t.Helper()
	h.claims(number)
	h.emit(h.start(number))
}

// start lets the program of an attempt begin, and is what the worker has to tell of it.
func (h *hand) start(number int) task.Event {
	h.mu.Lock()
	defer h.mu.Unlock()
	e := h.event(task.StartedEvent, number)
	e.Start = &task.Start{Host: "host-" + h.name, Resumed: len(h.began) > 0}
	h.began = append(h.began, number)
	h.beat.Running = append(slices.Clone(h.beat.Running), task.Busy{Sweep: h.s.id, Attempt: number,
		Started: e.Time})
	return e
}

func (h *hand) gives(number int) { h.emit(h.event(task.ReturnedEvent, number)) }

func (h *hand) ends(number int, class task.Class, reason string) {
	h.s.t.Helper()
	e := h.event(task.EndedEvent, number)
	e.Outcome = &task.Outcome{Class: class, Reason: reason, Duration: 10 * time.Millisecond}
	if class == task.Error {
		code := 3
		e.Outcome.ExitCode = &code
	}
	h.mu.Lock()
	h.beat.Running = slices.DeleteFunc(slices.Clone(h.beat.Running), func(b task.Busy) bool {
		return b.Attempt == number
	})
	h.mu.Unlock()
	h.emit(e)
}

// runs lets an attempt begin and end.
func (h *hand) runs(number int, class task.Class, reason string) {
	h.s.t.Helper()
	h.begins(number)
	h.ends(number, class, reason)
}

// piece is what it has of an attempt's output.
func (h *hand) piece(c task.Control) task.Piece {
	h.mu.Lock()
	defer h.mu.Unlock()
	p := task.Piece{Version: task.Version, ID: c.Read.ID, Worker: h.name, Offset: c.Read.Offset,
		Absent: true}
	number := c.Attempt
	if number == 0 && len(h.began) > 0 {
		number = h.began[len(h.began)-1]
	}
	if slices.Contains(h.began, number) && !c.Read.Stderr {
		text := printedBy(h.name, number)
		p.Absent, p.Size, p.Data = false, int64(len(text)),
			[]byte(text)[min(c.Read.Offset, int64(len(text))):]
	}
	return p
}

func printedBy(worker string, number int) string {
	return "attempt " + strconv.Itoa(number) + " on " + worker + "\n"
}
