package server_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"testing"

	"mlframework/sweep/api"
	"mlframework/sweep/api/server"
	"mlframework/sweep/human"
	"mlframework/sweep/metric"
	"mlframework/sweep/space"
	"mlframework/sweep/task"
)

// refused checks that what is refused is the fault of who asked, in words that a terminal shows as
// they are.
func refused(t *testing.T, err error) {
	t.Helper()
	e, is := errors.AsType[*api.Error](err)
	if !is || e.Status != http.StatusBadRequest || human.Visible(e.Text) != e.Text {
		t.Errorf("%q", err)
	}
}

// FuzzSubmission reads submissions of anything. One that is taken has tasks that can be told, the
// first and the last one, and is taken again, the same, when it is written.
func FuzzSubmission(f *testing.F) {
	for _, parameters := range []string{"x: 1\n", "lr: [1e-3, 1e-4]\nseed: !interval [0, 9]\n",
		"a: [x, y]\nc: text\n"} {
		sp, _, err := space.Read("parameters.yml", []byte(parameters))
		if err != nil {
			f.Fatal(err)
		}
		s := api.Submission{Code: "c"}
		s.Record.Version, s.Record.Space = 1, sp
		s.Record.Recipe = task.Recipe{Definition: "train", Command: []string{"train.py"},
			Revision: "r1", Env: map[string]string{"A": "b"}, Outputs: []string{"out"},
			Links:   map[string]string{"data": "/data"},
			Metrics: []metric.Rule{{Name: "loss", Pattern: "loss=(.*)"}}}
		body, err := json.Marshal(s)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(body)
	}
	f.Add([]byte(`{"record":{"version":99}}`))
	f.Add(
		[]byte(
			`{"record":{"version":1,"space":null,"ranges":[{"from":0,"to":9223372036854775807}]}}`),
	)
	f.Fuzz(func(t *testing.T, body []byte) {
		s, err := server.ReadSubmission(body)
		if err != nil {
			refused(t, err)
			return
		}
		total := api.Total(s.Record)
		points := s.Record.Points()
		for _, index := range []int64{0, total - 1} {
			points.CommandLine(nil, index)
			points.Parameters(index)
		}
		s.Record.Schema()
		written, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		again, err := server.ReadSubmission(written)
		if err != nil || api.Total(again.Record) != total {
			t.Fatalf("%d tasks, written %d, %v\n%s", total, api.Total(again.Record), err, written)
		}
		if twice, err := json.Marshal(again); err != nil || !bytes.Equal(written, twice) {
			t.Errorf("%v: written as\n%s\nand then as\n%s", err, written, twice)
		}
	})
}

// FuzzQuery reads the URLs of listings.
func FuzzQuery(f *testing.F) {
	for _, seed := range []string{"", "where=lr+%3C+1&sort=-loss&limit=10&after=5",
		"state=failed,oom&best=true&top=3", "state=", "top=-1", "limit=+1", "begun=yes%1b[2J",
		"limit=9223372036854775808", "state=%1b,failed"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		v, err := url.ParseQuery(raw)
		if err != nil {
			return
		}
		q, err := server.ReadQuery(v)
		if err != nil {
			refused(t, err)
		} else if q.Top < 0 || q.Limit < 0 {
			t.Errorf("%q: %+v", raw, q)
		}
	})
}
