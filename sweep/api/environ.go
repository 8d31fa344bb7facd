package api

import (
	"encoding/json"
	"slices"
)

// Environ is variables as NAME=value. They are bytes, and need not be UTF-8: each is Base64 in
// JSON.
type Environ []string

// MarshalJSON implements json.Marshaler.
func (e Environ) MarshalJSON() ([]byte, error) {
	all := make([][]byte, len(e))
	for i, v := range e {
		all[i] = []byte(v)
	}
	return json.Marshal(all)
}

// UnmarshalJSON implements json.Unmarshaler.
func (e *Environ) UnmarshalJSON(text []byte) error {
	var all [][]byte
	if err := json.Unmarshal(text, &all); err != nil {
		return err
	}
	*e = slices.Grow(Environ(nil), len(all))
	for _, v := range all {
		*e = append(*e, string(v))
	}
	return nil
}
