package task

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
)

// MaxPerMessage is how many events, or lines, may be in one message. Workers hand over 512 events,
// or 256 lines, at once.
const MaxPerMessage = 1 << 12

// CheckSize returns an error for a message that is longer than any that is sent, or that has more
// parts, at any depth: each takes more memory than its bytes. One that has fewer bytes than most
// parts is not counted.
func CheckSize(body []byte, most, mostParts int) error {
	if len(body) > most {
		return &unreadable{fmt.Sprintf("it is %d bytes long; at most %d are read", len(body), most)}
	}
	if len(body) <= mostParts {
		return nil
	}
	if n := bytes.Count(body, []byte{','}); n > mostParts {
		return &unreadable{fmt.Sprintf("it has %d commas; at most %d parts are read", n, mostParts)}
	}
	return nil
}

// unreadable says why a message cannot be read.
type unreadable struct{ why string }

func (u *unreadable) Error() string { return u.why }

// versioned is a message that says which version it has.
type versioned interface{ version() int }

func (b *Batch) version() int     { return b.Version }
func (e *Event) version() int     { return e.Version }
func (h *Heartbeat) version() int { return h.Version }
func (c *Control) version() int   { return c.Version }
func (p *Piece) version() int     { return p.Version }

// decodeOne reads one thing that passes check.
func decodeOne[T any](body []byte, check func(*T) error) ([]T, error) {
	things := make([]T, 1)
	err := complete(&things[0], body, json.Unmarshal(body, &things[0]), check)
	if err != nil {
		return nil, err
	}
	return things, nil
}

// decodeAll reads an array of things that pass check. It reads nothing behind the first that does
// not, or behind the last that a message may have.
func decodeAll[T any](body []byte, check func(*T) error) (things []T, err error) {
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
		if err := complete(&thing, one, err, check); err != nil {
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

// complete completes what was read of body with err: of another version only the outline is read.
func complete[T any](thing *T, body []byte, err error, check func(*T) error) error {
	if v, ok := any(thing).(versioned); ok && (err != nil || Foreign(v.version())) {
		*thing = *new(T)
		if !readOutline(body, thing) {
			return unexpected(err)
		}
		err = nil
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

func trusted[T any](*T) error { return nil }

// DecodeBatch reads a batch of at most so many bytes.
func DecodeBatch(body []byte, most int) ([]Batch, error) {
	if err := CheckSize(body, most, most); err != nil {
		return nil, err
	}
	return decodeOne(body, trusted[Batch])
}

// DecodeControl reads a control message of at most so many bytes.
func DecodeControl(body []byte, most int) ([]Control, error) {
	if err := CheckSize(body, most, most); err != nil {
		return nil, err
	}
	return decodeOne(body, trusted[Control])
}

// DecodeEvents reads an array of events. It stops at the first that check does not let through.
func DecodeEvents(body []byte, check func(*Event) error) ([]Event, error) {
	return decodeAll(body, check)
}

// DecodeHeartbeat reads one heartbeat, which check lets through.
func DecodeHeartbeat(body []byte, check func(*Heartbeat) error) ([]Heartbeat, error) {
	return decodeOne(body, check)
}

// DecodePiece reads one piece of output, which check lets through.
func DecodePiece(body []byte, check func(*Piece) error) ([]Piece, error) {
	return decodeOne(body, check)
}

// DecodeLines reads an array of lines. It stops at the first that check does not let through.
func DecodeLines(body []byte, check func(*Line) error) ([]Line, error) {
	return decodeAll(body, check)
}

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
// order. Attempts that are too long by themselves are left out; the error says which is the first.
func EncodeBatch(b *Batch, most int) (bodies [][]byte, err error) {
	what := "a batch of " + b.Sweep
	if len(b.Attempts) == 1 {
		what = "task " + ID{b.Sweep, b.Attempts[0].Index}.String()
	}
	body, err := Encode(what, b, most)
	if _, long := errors.AsType[*tooLong](err); long && len(b.Attempts) > 1 {
		first, second := *b, *b
		half := len(b.Attempts) / 2
		first.Attempts, second.Attempts = b.Attempts[:half], b.Attempts[half:]
		one, oneErr := EncodeBatch(&first, most)
		two, twoErr := EncodeBatch(&second, most)
		return append(one, two...), cmp.Or(oneErr, twoErr)
	}
	if err != nil {
		return nil, err
	}
	return [][]byte{body}, nil
}

// EncodeAll returns JSON arrays of things in order. An array of several has about most bytes, and
// at most MaxPerMessage things; the one thing of any other has at most mostOne bytes, without the
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

// tooLong says that a thing cannot be sent as one message.
type tooLong struct {
	what        string
	bytes, most int
}

func (t *tooLong) Error() string {
	return fmt.Sprintf("send %s: it is %d bytes long; at most %d can be sent", t.what, t.bytes,
		t.most)
}
