package config

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// written is the value as config.yml has it.
func written(o option, words []string) string {
	if o.list {
		return list(words)
	}
	return scalar(words[0])
}

func list(words []string) string {
	scalars := make([]string, len(words))
	for i, w := range words {
		scalars[i] = scalar(w)
	}
	return "[" + strings.Join(scalars, ", ") + "]"
}

// bare is what needs no quotes, in a list neither.
var bare = regexp.MustCompile(`^([A-Za-z0-9_./]|~/)([A-Za-z0-9_./@+:=-]*[A-Za-z0-9_./@+=-])?$`)

// scalar quotes what would not be read back as the same text.
func scalar(text string) string {
	if bare.MatchString(text) && !slices.Contains([]string{"null", "Null", "NULL"}, text) && !marker(text) {
		return text
	}
	quoted, err := json.Marshal(text) // YAML reads it: https://yaml.org/spec/1.2.2/, 1.2 is a superset of JSON
	if err != nil {
		return text
	}
	return string(quoted)
}
