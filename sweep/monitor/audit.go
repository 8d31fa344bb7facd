package monitor

import (
	"context"
	"net/url"
	"regexp"
	"strconv"
	"time"

	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/human"
	"mlframework/sweep/task"
)

// auditOnPage is how many actions a page has, and auditRefresh how often the newest are asked for:
// nobody tells of those that were refused.
const (
	auditOnPage  = 100
	auditRefresh = 10 * time.Second
)

// auditView is a page of what was done, the newest first.
type auditView struct {
	Object        string // whose actions these are; "": of everything
	Actions       []auditLine
	Newest, Older string // URLs; "": there is none
	Cut           bool   // there are more than these
}

// auditLine is an action in words.
type auditLine struct {
	ID                  int64
	Time                time.Time
	Who, From           string
	Action, Detail      string
	Kind, Object, URL   string
	Outcome, Tone, Text string
}

func (m *Monitor) loadAudit(r *request) (*content, error) {
	q := r.URL.Query()
	object, after := q.Get("object"), q.Get("after")
	page, err := ask(r.Context(), m.answers, "audit "+url.QueryEscape(object)+" "+after, r.version,
		func(ctx context.Context) (api.AuditPage, error) {
			return m.o.Master.Audit(ctx, api.AuditQuery{Object: object, After: after,
				Limit: auditOnPage})
		})
	if err != nil {
		return nil, err
	}
	v := auditView{Object: human.Truncate(human.Visible(object)), Cut: page.value.Next != ""}
	for _, e := range page.value.Actions {
		v.Actions = append(v.Actions, m.auditLine(e))
	}
	if after != "" {
		v.Newest = m.auditURL(object, "")
	}
	if v.Cut {
		v.Older = m.auditURL(object, page.value.Next)
	}
	c := m.warned(r, &content{title: "Audit", view: v, asOf: page.asOf})
	if after == "" {
		c.refresh = auditRefresh
	}
	return c, nil
}

func (m *Monitor) auditURL(object, after string) string {
	q := url.Values{}
	if object != "" {
		q.Set("object", object)
	}
	if after != "" {
		q.Set("after", after)
	}
	if len(q) == 0 {
		return m.o.Prefix + "/audit"
	}
	return m.o.Prefix + "/audit?" + q.Encode()
}

// taskCount is how many tasks an action is about, at the end of its detail.
var taskCount = regexp.MustCompile(`(^| )tasks=(\d+)( fresh)?$`)

// detailText returns the detail of an action with its number of tasks in words.
func detailText(detail string) string {
	return taskCount.ReplaceAllStringFunc(detail, func(found string) string {
		part := taskCount.FindStringSubmatch(found)
		n, err := strconv.ParseInt(part[2], 10, 64)
		if err != nil {
			return found
		}
		return part[1] + human.Plural(n, "task") + part[3]
	})
}

func (m *Monitor) auditLine(e core.AuditEntry) auditLine {
	l := auditLine{ID: e.ID, Time: e.Time, Who: human.Visible(e.User),
		Action: human.Visible(e.Action), Detail: human.Truncate(human.Visible(detailText(e.Detail))),
		Kind: human.Visible(e.Kind), Object: human.Truncate(human.Visible(e.Object)),
		Outcome: human.Visible(e.Outcome), Tone: "failed"}
	if e.Outcome == core.AuditDone {
		l.Tone = task.Succeeded.String()
	}
	if e.UID != nil {
		l.From = "uid " + strconv.Itoa(*e.UID)
	}
	if e.Reason != nil {
		l.Text = human.Truncate(human.Visible(*e.Reason))
	}
	switch id, err := task.ParseID(e.Object); {
	case e.Object == "":
	case e.Kind == "worker":
		l.URL = m.workerURL(e.Object)
	case e.Kind == "task" && err == nil:
		l.URL = m.taskURL(id.Sweep, id.Index)
	case e.Kind == "sweep":
		l.URL = m.sweepURL(e.Object)
	}
	return l
}
