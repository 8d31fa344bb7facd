package core

import (
	"strings"
	"time"
)

// How an audited action ended.
const (
	AuditDone    = "done"
	AuditRefused = "refused"
	AuditFailed  = "failed"
)

// AuditEntry is what was done, or refused, and by whom. It is kept for good: an entry takes about
// 150 bytes with its place in the index of objects, so that 10,000 of them are 1.5 MB.
type AuditEntry struct {
	ID      int64 // in the order of keeping; of a new one 0
	Time    time.Time
	UID     int    // the user's, as the kernel tells; -1: not known
	User    string // the name that the client declares; "": none
	Action  string // "retry"
	Kind    string // of the object: "sweep", "task", "worker", "letter"
	Object  string // "train-7", "train-7/42", "w1"; "": all, or none was made
	Detail  string // "n=4"
	Outcome string // AuditDone, AuditRefused or AuditFailed
	Reason  string // of what was not done
}

// longestReason bounds the reason of an audit entry, in bytes.
const longestReason = 256

// End notes how the action ended, unless that is known.
func (e *AuditEntry) End(outcome, reason string) {
	if e.Outcome == "" {
		e.Outcome, e.Reason = outcome, strings.ToValidUTF8(reason[:min(len(reason), longestReason)], "")
	}
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
