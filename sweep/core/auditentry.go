package core

import (
	"fmt"
	"strings"
	"time"

	"mlframework/sweep/human"
)

// How an audited action ended.
const (
	AuditDone    = "done"
	AuditRefused = "refused"
	AuditFailed  = "failed"
)

// AuditEntry is what was done, or refused, and by whom. It is kept for good: an entry takes about
// 150 bytes with its place in the index of objects, so that 10,000 of them are 1.5 MB. Its JSON is
// that of the API.
type AuditEntry struct {
	ID     int64     `json:"id"`     // in the order of keeping; of a new one 0
	Time   time.Time `json:"time"`   // when it was kept; zero: not yet
	UID    *int      `json:"uid"`    // of the user on the master's host; nil: unknown
	User   string    `json:"user"`   // the name that the client declares; "": none
	Action string    `json:"action"` // "retry"
	Kind   string    `json:"kind"`   // of the object: "sweep", "task", "worker"
	// Object is its id or name: "train-7", "train-7/42", "w1"; "": none was made.
	Object  string  `json:"object"`
	Detail  string  `json:"detail"`  // what else was asked: "n=4"
	Outcome string  `json:"outcome"` // AuditDone, AuditRefused or AuditFailed
	Reason  *string `json:"reason"`  // of what was not done; nil: it was done
	// IdempotencyKey is what the client named the request by, which it may send again; "": nothing.
	// It is written, and not read back.
	IdempotencyKey string `json:"-"`
}

// maxReason bounds the reason of an audit entry, in bytes.
const maxReason = 256

// End notes how the action ended, unless that is known. An action that was done has no reason.
func (e *AuditEntry) End(outcome, reason string) {
	if e.Outcome != "" {
		return
	}
	if e.Outcome = outcome; reason != "" {
		reason = strings.ToValidUTF8(reason[:min(len(reason), maxReason)], "")
		e.Reason = &reason
	}
}

// Repeats reports whether e can be what was kept of a request: sweep is the one that it is about,
// which the client may have called the newest; "": none.
func (e *AuditEntry) Repeats(request AuditEntry, sweep string) bool {
	if sweep != "" {
		request.setSweep(sweep)
	}
	return e.Action == request.Action && e.Kind == request.Kind &&
		(request.Object == "" || e.Object == request.Object) &&
		strings.HasPrefix(e.Detail, request.Detail)
}

// setSweep notes the sweep that the action is about, which the client may have called the newest.
func (e *AuditEntry) setSweep(id string) {
	if e == nil {
		return
	}
	_, index, task := strings.Cut(e.Object, "/")
	if e.Object = id; task {
		e.Object += "/" + index
	}
}

// addSettings notes which settings the action changed.
func (e *AuditEntry) addSettings(changes []Change) {
	if e == nil || len(changes) == 0 {
		return
	}
	var keys []string
	for _, c := range changes {
		keys = append(keys, c.Key)
	}
	e.Detail = strings.TrimSpace(e.Detail + " settings=" + strings.Join(keys, ","))
}

// addAudit adds an entry of what the master does by itself.
func (c *Core) addAudit(action, kind, object, detail string) {
	c.rows.Audit = append(c.rows.Audit, AuditEntry{Time: c.now, User: "master", Action: action,
		Kind: kind, Object: object, Detail: detail, Outcome: AuditDone})
}

// auditInterval is how often the audit has an entry of one kind of a worker's processes at most: a
// worker that starts again and again, or anyone who has its password, must not fill the store.
const auditInterval = time.Minute

// addLimitedAudit adds an entry of what a worker's process caused, or counts it in the next one.
func (c *Core) addLimitedAudit(l *rateLimit, action, kind, object, detail string) {
	skipped, ok := l.first(c.now, auditInterval)
	if !ok {
		return
	}
	if skipped > 0 {
		detail += fmt.Sprintf(" not-recorded=%d", skipped)
	}
	c.addAudit(action, kind, object, detail)
}

// maxDetail bounds each text of a worker's in an audit entry, in bytes.
const maxDetail = 100

// auditJoin adds an audit entry of a worker's process that was registered.
func (c *Core) auditJoin(w *worker) {
	if c.options.Local {
		return
	}
	bounded := func(text string) string { return text[:min(len(text), maxDetail)] }
	r := &w.record
	detail := fmt.Sprintf("host=%s program=%s process=%s", bounded(r.Host), bounded(r.Program),
		bounded(r.Incarnation))
	c.addLimitedAudit(&w.joins, "join", "worker", r.Name, human.Visible(detail))
}
