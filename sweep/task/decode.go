package task

import (
	"bytes"
	"encoding/json"
	"fmt"
)

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
