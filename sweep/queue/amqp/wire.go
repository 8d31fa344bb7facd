package amqp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"mlframework/sweep/task"
)

// encode gives the JSON of one thing, which must not be longer than what is read.
func encode(what string, v any) ([]byte, error) {
	body, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("send %s: %w", what, err)
	}
	if len(body) > mostBytes {
		return nil, fmt.Errorf("send %s: it is %d bytes long; at most %d can be sent", what, len(body), mostBytes)
	}
	return body, nil
}

// encodeAll gives JSON arrays of things in order, each array about as long as most.
func encodeAll[T any](what string, things []T, most int) (bodies [][]byte, err error) {
	var body []byte
	for i := range things {
		one, err := encode(what, &things[i])
		if err != nil {
			return nil, err
		}
		if len(body) > 0 && len(body)+len(one) >= most {
			bodies = append(bodies, append(body, ']'))
			body = nil
		}
		if body == nil {
			body = append(make([]byte, 0, min(most, (len(one)+1)*(len(things)-i)+1)), '[')
		} else {
			body = append(body, ',')
		}
		body = append(body, one...)
	}
	if body != nil {
		bodies = append(bodies, append(body, ']'))
	}
	return bodies, nil
}

// unreadable says why a message cannot be read.
type unreadable struct{ why string }

func (u *unreadable) Error() string { return u.why }

// outline is what a message of any version has (see package task): what is newer than this program is read no further.
type outline struct {
	Version     int    `json:"version"`
	ID          string `json:"id"`
	Kind        string `json:"kind"`
	Worker      string `json:"worker"`
	Incarnation string `json:"incarnation"`
	Program     string `json:"program"`
	Host        string `json:"host"`
	Sweep       string `json:"sweep"`
	Index       int64  `json:"index"`
	Attempt     int    `json:"attempt"`
	Attempts    []struct {
		Index  int64 `json:"index"`
		Number int   `json:"number"`
	} `json:"attempts"`
}

// newer reads the outline of a message of a newer version; false when it is none. A field that is not what it was is left
// out.
func newer(body []byte) (o outline, is bool) {
	err := json.Unmarshal(body, &o)
	if _, partly := errors.AsType[*json.UnmarshalTypeError](err); err != nil && !partly {
		return o, false
	}
	return o, o.Version > task.Newest
}

// form is how one kind of messages is read: where its version stands, and what is made of one that is newer.
type form[T any] struct {
	version func(*T) int // nil: it has none
	outline func(outline) T
}

// one reads one thing.
func (f form[T]) one(body []byte) ([]T, error) {
	if err := tooLong(body); err != nil {
		return nil, err
	}
	things := make([]T, 1)
	err := json.Unmarshal(body, &things[0])
	if err == nil && !f.newer(things) {
		return things, nil
	}
	if f.outline != nil {
		if o, is := newer(body); is {
			things[0] = f.outline(o)
			return things, nil
		}
	}
	return nil, unexpected(err)
}

// all reads an array of things.
func (f form[T]) all(body []byte) ([]T, error) {
	if err := tooLong(body); err != nil {
		return nil, err
	}
	if first := bytes.TrimLeft(body, " \t\r\n"); len(first) == 0 || first[0] != '[' {
		return nil, &unreadable{"it is not what is expected here: no array"}
	}
	var things []T
	err := json.Unmarshal(body, &things)
	if err == nil && !f.newer(things) {
		return things, nil
	}
	var bodies []json.RawMessage
	if json.Unmarshal(body, &bodies) != nil {
		return nil, unexpected(err)
	}
	things = things[:0]
	for _, b := range bodies {
		thing, err := f.one(b)
		if err != nil {
			return nil, err
		}
		things = append(things, thing...)
	}
	return things, nil
}

func (f form[T]) newer(things []T) bool {
	return f.version != nil && slices.ContainsFunc(things, func(t T) bool { return f.version(&t) > task.Newest })
}

func unexpected(err error) error {
	return &unreadable{fmt.Sprintf("it is not what is expected here: %v", err)}
}

func tooLong(body []byte) error {
	if len(body) <= mostBytes {
		return nil
	}
	return &unreadable{fmt.Sprintf("it is %d bytes long; at most %d are read", len(body), mostBytes)}
}

var (
	batchForm = form[task.Batch]{func(b *task.Batch) int { return b.Version }, func(o outline) task.Batch {
		b := task.Batch{Version: o.Version, Sweep: o.Sweep}
		for _, a := range o.Attempts {
			b.Attempts = append(b.Attempts, task.Attempt{Index: a.Index, Number: a.Number})
		}
		return b
	}}
	eventForm = form[task.Event]{func(e *task.Event) int { return e.Version }, func(o outline) task.Event {
		return task.Event{Version: o.Version, Kind: task.Kind(o.Kind), Worker: o.Worker, Sweep: o.Sweep, Index: o.Index, Attempt: o.Attempt}
	}}
	beatForm = form[task.Heartbeat]{func(h *task.Heartbeat) int { return h.Version }, func(o outline) task.Heartbeat {
		return task.Heartbeat{Version: o.Version, Worker: o.Worker, Incarnation: o.Incarnation, Program: o.Program, Host: o.Host}
	}}
	controlForm = form[task.Control]{func(c *task.Control) int { return c.Version }, func(o outline) task.Control {
		return task.Control{Version: o.Version, Kind: task.ControlKind(o.Kind)}
	}}
	pieceForm = form[task.Piece]{func(p *task.Piece) int { return p.Version }, func(o outline) task.Piece {
		return task.Piece{Version: o.Version, ID: o.ID, Worker: o.Worker}
	}}
	lineForm = form[task.Line]{}
)

func decodeBatch(body []byte) ([]task.Batch, error)     { return batchForm.one(body) }
func decodeEvents(body []byte) ([]task.Event, error)    { return eventForm.all(body) }
func decodeBeat(body []byte) ([]task.Heartbeat, error)  { return beatForm.one(body) }
func decodeControl(body []byte) ([]task.Control, error) { return controlForm.one(body) }
func decodePiece(body []byte) ([]task.Piece, error)     { return pieceForm.one(body) }
