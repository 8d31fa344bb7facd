package core

import (
	"encoding/json"
	"fmt"
)

// Stored is the form in which a record is kept. It was read back: an error says why no program could read it.
func (r Record) Stored() (string, error) { return stored(r) }

func stored[T any](v T) (string, error) {
	form, err := json.Marshal(v)
	if err != nil {
		return "", fmt.Errorf("write the sweep's record: %w", err)
	}
	if err := json.Unmarshal(form, new(T)); err != nil {
		return "", fmt.Errorf("the sweep's record could not be read again, and is not kept: %w", err)
	}
	return string(form), nil
}
