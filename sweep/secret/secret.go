// Package secret is the values of a sweep's secrets on their way from who submits it to its
// attempts: one file on the master's volume, sealed where they travel over the broker, and in
// memory everywhere else.
//
// What is here never shows a value: not in an error, not when it is printed or logged. The master,
// the API, the worker and the commands import it; it imports nothing of the project.
package secret

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
)

// Bounds, in bytes. Linux takes at most 128 KiB for one variable (execve(2), MAX_ARG_STRLEN), and a
// message is read whole.
const (
	MaxValueBytes = 64 << 10
	MaxTotalBytes = 256 << 10 // names and values together
)

// Values are the values of secrets by name. They are shown to nobody who prints them; their JSON
// has them.
type Values map[string]string

// String says how many there are.
func (v Values) String() string { return fmt.Sprintf("%d secrets", len(v)) }

// GoString returns String.
func (v Values) GoString() string { return v.String() }

// Format is String, whatever the verb.
func (v Values) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(v.String())) }

// LogValue implements slog.LogValuer.
func (v Values) LogValue() slog.Value { return slog.StringValue(v.String()) }

// UnmarshalJSON reads an object of texts. Its errors say nothing of what it read.
func (v *Values) UnmarshalJSON(text []byte) error {
	var all map[string]string
	if err := json.Unmarshal(text, &all); err != nil {
		return errors.New("secrets: an object with a text for each name is expected")
	}
	*v = all
	return nil
}

// Check reports whether there is a usable value for each of names, and nothing else. The error
// names names.
func (v Values) Check(names []string) error {
	size := 0
	for _, name := range names {
		value, ok := v[name]
		switch size += len(name) + len(value); {
		case !ok || value == "":
			return fmt.Errorf("the secret %s has no value", name)
		case strings.ContainsRune(value, 0):
			return fmt.Errorf("the value of the secret %s holds a zero byte, which no variable can",
				name)
		case len(value) > MaxValueBytes:
			return fmt.Errorf("the value of the secret %s is longer than %d KiB", name,
				MaxValueBytes>>10)
		}
	}
	if size > MaxTotalBytes {
		return fmt.Errorf("the values of the secrets are longer than %d KiB together",
			MaxTotalBytes>>10)
	}
	for _, name := range slices.Sorted(maps.Keys(v)) {
		if !slices.Contains(names, name) {
			return fmt.Errorf("there is a value of %q, which is not a secret of the sweep", name)
		}
	}
	return nil
}
