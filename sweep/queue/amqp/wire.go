package amqp

import (
	"bytes"
	"encoding/json"
	"fmt"

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

// versioned tells the version of a message; those that have none are of every version.
type versioned struct {
	Version int `json:"version"`
}

// decodeOne reads one thing whose version is told by of.
func decodeOne[T any](body []byte, of func(*T) int) ([]T, error) {
	if err := tooLong(body); err != nil {
		return nil, err
	}
	things := make([]T, 1)
	if err := json.Unmarshal(body, &things[0]); err != nil {
		var v versioned
		if json.Unmarshal(body, &v) == nil && v.Version > task.Version {
			return nil, newer(v.Version)
		}
		return nil, &unreadable{fmt.Sprintf("it is not what is expected here: %v", err)}
	}
	if v := of(&things[0]); v > task.Version {
		return nil, newer(v)
	}
	return things, nil
}

// decodeAll reads an array of things.
func decodeAll[T any](body []byte, of func(*T) int) ([]T, error) {
	if err := tooLong(body); err != nil {
		return nil, err
	}
	if first := bytes.TrimLeft(body, " \t\r\n"); len(first) == 0 || first[0] != '[' {
		return nil, &unreadable{"it is not what is expected here: no array"}
	}
	var things []T
	if err := json.Unmarshal(body, &things); err != nil {
		var all []versioned
		if json.Unmarshal(body, &all) == nil {
			for _, v := range all {
				if v.Version > task.Version {
					return nil, newer(v.Version)
				}
			}
		}
		return nil, &unreadable{fmt.Sprintf("it is not what is expected here: %v", err)}
	}
	for i := range things {
		if v := of(&things[i]); v > task.Version {
			return nil, newer(v)
		}
	}
	return things, nil
}

func tooLong(body []byte) error {
	if len(body) <= mostBytes {
		return nil
	}
	return &unreadable{fmt.Sprintf("it is %d bytes long; at most %d are read", len(body), mostBytes)}
}

func newer(version int) error {
	return &unreadable{fmt.Sprintf("it is of version %d and this program reads up to %d: update this program", version, task.Version)}
}

func batchVersion(b *task.Batch) int    { return b.Version }
func eventVersion(e *task.Event) int    { return e.Version }
func beatVersion(h *task.Heartbeat) int { return h.Version }
func controlVersion(c *task.Control) int {
	return c.Version
}
func pieceVersion(p *task.Piece) int { return p.Version }
func lineVersion(*task.Line) int     { return 0 }

func decodeBatch(body []byte) ([]task.Batch, error)    { return decodeOne(body, batchVersion) }
func decodeEvents(body []byte) ([]task.Event, error)   { return decodeAll(body, eventVersion) }
func decodeBeat(body []byte) ([]task.Heartbeat, error) { return decodeOne(body, beatVersion) }
func decodeControl(body []byte) ([]task.Control, error) {
	return decodeOne(body, controlVersion)
}
func decodePiece(body []byte) ([]task.Piece, error) { return decodeOne(body, pieceVersion) }
func decodeLines(body []byte) ([]task.Line, error)  { return decodeAll(body, lineVersion) }
