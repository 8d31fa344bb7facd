package server_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/api"
	"mlframework/sweep/group"
	"mlframework/sweep/task"
)

// A master answers as its store does.
func TestGroupsOfMasters(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.hire("w1", 2, func(g given) *task.Outcome {
		o := well(g)
		if g.Index == 3 {
			o.Class, o.Metrics = task.Error, nil
		}
		return o
	})
	id := s.submit(5)
	s.becomes(id, map[string]int64{"succeeded": 4, "failed": 1})
	c := s.client
	q := api.GroupQuery{Query: api.Query{Where: "index > 0", Top: 1}, By: []string{"host"},
		Metrics: []string{"duration"}}
	got, err := c.Groups(t.Context(), id, q)
	if err != nil || len(got.Groups) != 1 {
		t.Fatal(got, err)
	}
	one := got.Groups[0]
	missing := []group.Missing{{Why: "failed", Tasks: 1, First: id + "/3"}}
	if d := cmp.Diff(missing, one.Metrics["duration"].Missing); d != "" || one.Tasks != 4 ||
		one.Metrics["duration"].N != 3 || *one.By["host"] != "gpu1" {
		t.Errorf("%+v %s", one, d)
	}
	if got, err = c.Groups(t.Context(), "", api.GroupQuery{}); err != nil ||
		!slices.Equal(got.By, []string{"i"}) || got.Total != 5 {
		t.Errorf("by all parameters: %+v, %v", got.Table, err)
	}
	if got, err = c.Groups(t.Context(), id, api.GroupQuery{By: []string{}}); err != nil ||
		len(got.Groups) != 1 || got.Groups[0].Tasks != 5 {
		t.Errorf("all in one group: %+v, %v", got.Table, err)
	}
	for _, q := range []struct {
		by, sort, where string
		metrics         []string
		want            string
	}{
		{by: "none-of-it", want: `by: there is no column "none-of-it"`},
		{by: "i", metrics: []string{"lost"}, want: `of: there is no column "lost"`},
		{by: "i", metrics: []string{"host"}, want: "of: host is not a metric"},
		{by: "i", sort: "host", want: `sort: there is no column "host" among the groups`},
		{by: "i", where: "i=", want: "where: column"},
	} {
		_, err := c.Groups(t.Context(), id,
			api.GroupQuery{Query: api.Query{Sort: q.sort, Where: q.where}, By: []string{q.by},
				Metrics: q.metrics})
		e, ok := err.(*api.Error)
		if !ok || !strings.HasPrefix(e.Parameter+": "+e.Text, q.want) {
			t.Errorf("%+v: %v", q, err)
		}
	}
	if _, err := c.Groups(t.Context(), "none-1", api.GroupQuery{}); err == nil ||
		!strings.Contains(err.Error(), "none-1") {
		t.Errorf("of a sweep that is not there: %v", err)
	}
}
