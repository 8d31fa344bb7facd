package main

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/metric"
	"mlframework/sweep/table"
)

// measured is a source of ended tasks, whose master takes so many requests.
type measured struct {
	source
	client *api.Client
	tasks  int64
	acts   int // how often it was asked to change something
}

func (m *measured) Rows(_ context.Context, _ string, _ api.Query,
	each func(*table.Row) error) error {
	for i := range m.tasks {
		started := time.Unix(1, 0)
		if err := each(&table.Row{Index: i, State: "succeeded", Started: &started}); err != nil {
			return err
		}
	}
	return nil
}

func (m *measured) measure(_ context.Context, _ api.Sweep, _ []metric.Rule,
	tasks []endedTask) (all []api.MeasuredTask, err error) {
	for _, t := range tasks {
		all = append(all, api.MeasuredTask{Remeasured: core.Remeasured{Index: t.index}})
	}
	return all, nil
}

func (m *measured) act(_ context.Context, do func(*api.Client) error) error {
	m.acts++
	return do(m.client)
}

// What is read again is stored in requests that are as large as they can be. Where one fails, it is
// said what earlier ones stored.
func TestRereadIsStoredInLargeParts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		tasks int64
		fails int // which request; 0: none
		sizes []int
		says  string
	}{
		"none":           {0, 0, []int{0}, ""},
		"one part":       {350, 0, []int{350}, ""},
		"several":        {2300, 0, []int{1000, 1000, 300}, ""},
		"the first ends": {350, 1, []int{350}, ""},
		"the third ends": {2300, 3, []int{1000, 1000, 300}, "the new metrics of work-1 are " +
			"stored, with the values of 2000 tasks: run it again for the others"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			socket := filepath.Join(t.TempDir(), "m.sock")
			l, err := net.Listen("unix", socket)
			if err != nil {
				t.Fatal(err)
			}
			var sizes []int
			master := &http.Server{Handler: http.HandlerFunc(
				func(w http.ResponseWriter, r *http.Request) {
					var body api.Reread
					if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
						t.Error(err)
					}
					if sizes = append(sizes, len(body.Tasks)); len(sizes) == c.fails {
						w.WriteHeader(http.StatusConflict)
						_, _ = w.Write([]byte(`{"error": "no more"}`))
						return
					}
					_, _ = w.Write([]byte("{}"))
				})}
			done := make(chan struct{})
			go func() { defer close(done); _ = master.Serve(l) }()
			src := &measured{client: api.Dial(socket), tasks: c.tasks}
			ended := time.Unix(2, 0)
			r := &rereading{src: src, sweep: api.Sweep{Summary: core.Summary{ID: "work-1",
				Ended: &ended}}}
			said := ""
			err = r.all(t.Context())
			if (err != nil) != (c.fails > 0) {
				t.Error(err)
			}
			if err != nil && r.stored {
				said = r.unfinished()
			}
			src.client.Close()
			_ = master.Close()
			<-done
			if !slices.Equal(sizes, c.sizes) || src.acts != len(c.sizes) {
				t.Errorf("%d acts, with requests of %v tasks", src.acts, sizes)
			}
			if said != c.says {
				t.Errorf("it says %s", said)
			}
		})
	}
}

// Tasks that were handed out before the new metrics were stored are counted, whether they run, wait
// for a slot or ended after they could be read.
func TestRereadCountsTasksOfEarlierMetrics(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		then        map[string]int64
		ended, want int64
	}{
		"none":                 {map[string]int64{"succeeded": 3, "pending": 2}, 3, 0},
		"some run":             {map[string]int64{"succeeded": 3, "running": 2}, 3, 2},
		"some wait for a slot": {map[string]int64{"queued": 1, "claimed": 2, "running": 2}, 0, 5},
		"some ended meanwhile": {map[string]int64{"succeeded": 4, "failed": 1, "running": 1}, 3,
			3},
		"the sweep is cancelled": {map[string]int64{"succeeded": 3, "cancelled": 900}, 3, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := rereading{ended: c.ended, then: core.Summary{Counts: c.then},
				with: api.Reread{Metrics: []metric.Rule{{Name: "acc"}}}}
			if n := r.earlier(); n != c.want {
				t.Errorf("%d tasks", n)
			}
		})
	}
}
