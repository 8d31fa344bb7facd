package master

import (
	"context"
	"errors"
	"strings"

	"mlframework/sweep/core"
	"mlframework/sweep/store"
)

// How a deed ended.
const (
	DeedDone    = "done"
	DeedRefused = "refused"
	DeedFailed  = "failed"
)

// Deed is what a person does, on its way into the record. The loop keeps it with what it changes, or what stopped it: in one
// transaction, but for what the store keeps at once (a new sweep, a new revision, a worker that is forgotten), behind which
// it follows.
type Deed struct {
	store.Deed
	Kept bool // it is in the record, or belongs in none
}

type deedKey struct{}

// Recorded makes the call that changes something under ctx keep a deed. One call at a time uses it.
func Recorded(ctx context.Context, d *Deed) context.Context {
	return context.WithValue(ctx, deedKey{}, d)
}

// DeedOf is the deed of a context; nil: none.
func DeedOf(ctx context.Context) *Deed {
	d, _ := ctx.Value(deedKey{}).(*Deed)
	return d
}

// Record keeps a deed that no call kept.
func (m *Master) Record(ctx context.Context, d *Deed) error {
	c := call{do: func(context.Context) error { return nil }, done: make(chan error, 1), deed: d}
	return m.ask(ctx, c)
}

// act is do for what a person changes: the deed of ctx is kept.
func (m *Master) act(ctx context.Context, f func(context.Context) error) error {
	return m.ask(ctx, call{do: f, done: make(chan error, 1), deed: DeedOf(ctx)})
}

// on notes the sweep that is meant, which the client may have called the newest.
func (d *Deed) on(sweep string) {
	if d == nil {
		return
	}
	_, index, task := strings.Cut(d.Object, "/")
	if d.Object = sweep; task {
		d.Object += "/" + index
	}
}

// note adds to a deed which settings it changed.
func (d *Deed) note(changes []core.Change) {
	if d == nil || len(changes) == 0 {
		return
	}
	var keys []string
	for _, c := range changes {
		keys = append(keys, c.Key)
	}
	d.Detail = strings.TrimSpace(d.Detail + " settings=" + strings.Join(keys, ","))
}

// longestReason bounds the reason of a deed, in bytes.
const longestReason = 256

// End notes how a deed ended, unless that is known.
func (d *Deed) End(outcome, reason string) {
	if d.Outcome == "" {
		d.Outcome, d.Reason = outcome, strings.ToValidUTF8(reason[:min(len(reason), longestReason)], "")
	}
}

// enter adds an audit entry of what the master itself does, to be kept with the step.
func (m *Master) enter(action, kind, object, detail string) {
	m.entries = append(m.entries, store.Deed{Time: m.o.Now(), UID: -1, User: "master", Action: action, Kind: kind, Object: object,
		Detail: detail, Outcome: DeedDone})
}

// deed is the deed of a call as it is kept; none when it has none.
func (m *Master) deed(c *call, answer error) []store.Deed {
	if c == nil || c.deed == nil {
		return nil
	}
	_, panicked := errors.AsType[*fault](answer)
	switch {
	case answer == nil:
		c.deed.End(DeedDone, "")
	case panicked:
		c.deed.End(DeedFailed, answer.Error())
	default:
		c.deed.End(DeedRefused, answer.Error())
	}
	c.deed.Time = m.o.Now()
	return []store.Deed{c.deed.Deed}
}
