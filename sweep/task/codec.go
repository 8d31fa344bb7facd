package task

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// Encode returns the JSON of one thing, which has at most so many bytes. What names the thing in
// errors.
func Encode(what string, v any, most int) ([]byte, error) {
	body, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("send %s: %w", what, err)
	}
	if len(body) > most {
		return nil, &tooLong{what, len(body), most}
	}
	return body, nil
}

// EncodeBatch returns the JSON of a batch. One that is longer than most bytes becomes several, in
// order.
func EncodeBatch(b *Batch, most int) ([][]byte, error) {
	body, err := Encode("a batch of "+b.Sweep, b, most)
	if _, long := errors.AsType[*tooLong](err); long && len(b.Attempts) > 1 {
		first, second := *b, *b
		half := len(b.Attempts) / 2
		first.Attempts, second.Attempts = b.Attempts[:half], b.Attempts[half:]
		one, err := EncodeBatch(&first, most)
		if err != nil {
			return nil, err
		}
		two, err := EncodeBatch(&second, most)
		return append(one, two...), err
	}
	return [][]byte{body}, err
}

// EncodeAll returns JSON arrays of things in order. An array of several has about most bytes, and
// at most MaxTogether things; the one thing of any other has at most mostOne bytes, without the
// brackets.
func EncodeAll[T any](what string, things []T, most, mostOne int) (bodies [][]byte, err error) {
	var body []byte
	count := 0
	for i := range things {
		one, err := Encode(what, &things[i], mostOne)
		if err != nil {
			return nil, err
		}
		if count++; len(body) > 0 && (len(body)+len(one) >= most || count > MaxPerMessage) {
			bodies = append(bodies, append(body, ']'))
			body, count = nil, 1
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

// form is how one kind of messages is read: where its version stands, and what is made of one that
// is newer.
type form[T any] struct {
	version func(*T) int // nil: it has none
	outline func(outline) T
}

// one reads one thing, which check lets through.
func (f form[T]) one(body []byte, check func(*T) error) ([]T, error) {
	things := make([]T, 1)
	if err := f.read(&things[0], body, json.Unmarshal(body, &things[0]), check); err != nil {
		return nil, err
	}
	return things, nil
}

// all reads an array of things, which check lets through one by one: nothing is read of what
// follows one that it does not, or the last that a message may have.
func (f form[T]) all(body []byte, check func(*T) error) (things []T, err error) {
	in := json.NewDecoder(bytes.NewReader(body))
	if first := bytes.TrimLeft(body, " \t\r\n"); len(first) == 0 || first[0] != '[' {
		return nil, &unreadable{"it is not what is expected here: no array"}
	}
	if _, err := in.Token(); err != nil {
		return nil, unexpected(err)
	}
	for in.More() {
		if len(things) == MaxPerMessage {
			return nil,
				&unreadable{fmt.Sprintf("it has more than %d parts; at most so many are read",
					MaxPerMessage)}
		}
		var thing T
		begin := in.InputOffset()
		err := in.Decode(&thing)
		one := bytes.TrimLeft(body[begin:in.InputOffset()], ", \t\r\n")
		if err := f.read(&thing, one, err, check); err != nil {
			return nil, err
		}
		things = append(things, thing)
	}
	if _, err := in.Token(); err != nil {
		return nil, unexpected(err)
	}
	if in.InputOffset() < int64(len(bytes.TrimRight(body, " \t\r\n"))) {
		return nil, &unreadable{"it is not what is expected here: something follows the array"}
	}
	return things, nil
}

// read completes what was read of body with err: of what is newer it is the outline.
func (f form[T]) read(thing *T, body []byte, err error, check func(*T) error) error {
	if f.version != nil && (err != nil || f.version(thing) > Newest) {
		o, is := newer(body)
		if !is {
			return unexpected(err)
		}
		*thing, err = f.outline(o), nil
	}
	if err != nil {
		return unexpected(err)
	}
	if err := check(thing); err != nil {
		return &unreadable{err.Error()}
	}
	return nil
}

func unexpected(err error) error {
	return &unreadable{fmt.Sprintf("it is not what is expected here: %v", err)}
}

var (
	batchForm = form[Batch]{
		version: func(b *Batch) int { return b.Version },
		outline: func(o outline) Batch {
			b := Batch{Version: o.Version, Sweep: o.Sweep}
			for _, a := range o.Attempts {
				b.Attempts = append(b.Attempts, Attempt{Index: a.Index, Number: a.Number})
			}
			return b
		},
	}
	eventForm = form[Event]{
		version: func(e *Event) int { return e.Version },
		outline: func(o outline) Event {
			return Event{Version: o.Version, Kind: EventKind(o.Kind), Worker: o.Worker,
				Sweep: o.Sweep,
				Index: o.Index, Attempt: o.Attempt}
		},
	}
	beatForm = form[Heartbeat]{
		version: func(h *Heartbeat) int { return h.Version },
		outline: func(o outline) Heartbeat {
			return Heartbeat{Version: o.Version, Worker: o.Worker, Incarnation: o.Incarnation,
				Program: o.Program, Host: o.Host}
		},
	}
	controlForm = form[Control]{
		version: func(c *Control) int { return c.Version },
		outline: func(o outline) Control {
			return Control{Version: o.Version, Kind: ControlKind(o.Kind)}
		},
	}
	pieceForm = form[Piece]{
		version: func(p *Piece) int { return p.Version },
		outline: func(o outline) Piece {
			return Piece{Version: o.Version, ID: o.ID, Worker: o.Worker}
		},
	}
	lineForm = form[Line]{}
)

func trusted[T any](*T) error { return nil }

// DecodeBatch reads a batch of at most so many bytes.
func DecodeBatch(body []byte, most int) ([]Batch, error) {
	if err := CheckSize(body, most, most); err != nil {
		return nil, err
	}
	return batchForm.one(body, trusted)
}

// DecodeControl reads a control message of at most so many bytes.
func DecodeControl(body []byte, most int) ([]Control, error) {
	if err := CheckSize(body, most, most); err != nil {
		return nil, err
	}
	return controlForm.one(body, trusted)
}

// DecodeEvents reads an array of events. It stops at the first that check does not let through.
func DecodeEvents(body []byte, check func(*Event) error) ([]Event, error) {
	return eventForm.all(body, check)
}

// DecodeHeartbeat reads one heartbeat, which check lets through.
func DecodeHeartbeat(body []byte, check func(*Heartbeat) error) ([]Heartbeat, error) {
	return beatForm.one(body, check)
}

// DecodePiece reads one piece of output, which check lets through.
func DecodePiece(body []byte, check func(*Piece) error) ([]Piece, error) {
	return pieceForm.one(body, check)
}

// DecodeLines reads an array of lines. It stops at the first that check does not let through.
func DecodeLines(body []byte, check func(*Line) error) ([]Line, error) {
	return lineForm.all(body, check)
}
