package task

import (
	"cmp"
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
