package server_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"mlframework/sweep/api"
	"mlframework/sweep/core"
)

func selection(where string, atMost ...int64) api.Selection {
	by := api.Selection{Where: api.Where(where)}
	if len(atMost) > 0 {
		by.AtMost = &atMost[0]
	}
	return by
}

// A filter chooses which tasks are cancelled and which run again, in one command; the others stay
// as they are, also those that were cancelled with their sweep before they had a row.
func TestSelection(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ctx, c := t.Context(), s.client
	id := s.submit(10)
	if sum, err := c.CancelTasks(ctx, id, selection("i >= 6 and state = pending", 4)); err != nil ||
		sum.State != core.Open || sum.Counts["cancelled"] != 4 || sum.Counts["pending"] != 6 {
		t.Fatalf("cancelled: %+v, %v", sum, err)
	}
	_, err := c.Cancel(ctx, id)
	s.must(err)
	retry := api.ResumeRequest{Selection: selection("i in [1, 7]", 2)}
	if sum, err := begin(c.Retry(ctx, id, retry, "")); err != nil || sum.State != core.Open ||
		sum.Counts["cancelled"] != 8 || sum.Counts["pending"] != 2 {
		t.Fatalf("retried: %+v, %v", sum, err)
	}
	s.again() // what was decided is in the store
	page, err := c.Tasks(ctx, id, api.Query{Where: "state = pending"})
	s.must(err)
	if n := page.Tasks; len(n) != 2 || n[0].Index != 1 || n[1].Index != 7 {
		t.Errorf("pending: %+v", n)
	}
	s.hire("w1", 1, well)
	s.becomes(id, map[string]int64{"succeeded": 2, "cancelled": 8})
	all, err := c.Audit(ctx, api.AuditQuery{Object: id})
	s.must(err)
	if got := all.Actions[0]; got.Action != "retry" ||
		got.Detail != "where=i in [1, 7] tasks=2" {
		t.Errorf("the audit has %+v", got)
	}
}

// A selection that cannot be done changes nothing, and its error says what is wrong, and where.
func TestWrongSelections(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := s.submit(4)
	_, err := s.client.CancelTask(t.Context(), id, 3)
	s.must(err)
	retry := func(by api.Selection) error {
		_, err := s.client.Retry(t.Context(), id, api.ResumeRequest{Selection: by}, "")
		return err
	}
	cancel := func(by api.Selection) error {
		_, err := s.client.CancelTasks(t.Context(), id, by)
		return err
	}
	for name, c := range map[string]struct {
		do     func(api.Selection) error
		by     api.Selection
		status int
		parameter,
		text string
		column int
	}{
		"a column that does not exist": {cancel, selection("i = 1 and lr = 2"), 400, "where",
			`there is no column "lr"`, 11},
		"half a filter":           {retry, selection("i ="), 400, "where", "", 4},
		"no task has ended":       {retry, selection("i < 3"), 409, "where", "failed or was cancelled", 0},
		"all have ended":          {cancel, selection("i = 3"), 409, "where", "has not ended", 0},
		"more than confirmed":     {cancel, selection("i < 3", 2), 409, "at_most", "picks 3 tasks now", 0},
		"more to retry":           {retry, selection("i = 3", 0), 409, "at_most", "picks 1 task now, and not 0", 0},
		"a number without filter": {cancel, selection("", 2), 400, "at_most", "needs where", 0},
		"a number below 0":        {cancel, selection("i = 0", -2), 400, "at_most", "negative", 0},
		"a filter beside indexes": {func(by api.Selection) error {
			_, err := s.client.Retry(t.Context(), id,
				api.ResumeRequest{Selection: by, Indexes: []int64{3}}, "")
			return err
		}, selection("i = 3"), 400, "where", "mutually exclusive", 0},
		"a sweep that goes on": {func(by api.Selection) error {
			_, err := s.client.Resume(t.Context(), id, api.ResumeRequest{Selection: by}, "")
			return err
		}, selection("i = 3"), 400, "where", "as a whole", 0},
	} {
		t.Run(name, func(t *testing.T) {
			e, ok := errors.AsType[*api.Error](c.do(c.by))
			if !ok || e.Status != c.status || e.Parameter != c.parameter ||
				!strings.Contains(e.Text, c.text) || e.Column != c.column {
				t.Errorf("%+v", e)
			}
		})
	}
	sum, err := s.client.Sweep(t.Context(), id, false)
	s.must(err)
	if sum.Counts["pending"] != 3 || sum.Counts["cancelled"] != 1 {
		t.Errorf("it is %v", sum.Counts)
	}
	for _, body := range []string{`{"were":"i=1"}`, `{"where":""}`, `{"where":null}`} {
		if status, text, _ := s.raw(http.MethodPost, "/v1/sweeps/"+id+"/cancel", body,
			"Content-Type", "application/json"); status != http.StatusBadRequest {
			t.Errorf("%s cancels all: %d %s", body, status, text)
		}
	}
}
