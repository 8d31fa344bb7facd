package metric

import (
	"fmt"
	"path/filepath"
	"strings"

	"mlframework/sweep/human"
)

// MaxName is the length in bytes that the name of a metric may have. Longer names in JSON lines are
// ignored.
const MaxName = 128

// Rule finds one metric in output: the number is what the group named "value" matched, or else the
// first group, and the step what the group "step" matched. It is persisted in a sweep's record: its
// JSON names never change.
type Rule struct {
	Name string `json:"name"`
	// regular expression (RE2), tried on each line; "": it comes in JSON lines, or from a file
	Pattern string `json:"pattern"`
	Take    Take   `json:"take,omitempty"` // which of its values is final
	// File is the pattern of files in the task's folder that the metric is read from, and one of
	// the others is its name there.
	File   string `json:"file,omitempty"`
	Column string `json:"column,omitempty"` // of CSV
	Key    string `json:"key,omitempty"`    // of JSON, or JSON lines; nested ones with dots
	Tag    string `json:"tag,omitempty"`    // of TensorBoard's event files
}

// String returns the rule for people: "acc 'accuracy: (.*)', take max".
func (r Rule) String() string {
	text := r.Name
	if r.Pattern != "" {
		text += " '" + r.Pattern + "'"
	}
	if r.File != "" {
		text += " of " + r.File
		for _, n := range [][2]string{{"column", r.Column}, {"key", r.Key}, {"tag", r.Tag}} {
			if n[1] != "" {
				text += ", " + n[0] + " " + n[1]
			}
		}
	}
	if r.Take != "" {
		text += ", take " + string(r.Take)
	}
	return text
}

// RuleError says what is wrong with one rule.
type RuleError struct {
	Rule    Rule
	Problem string // without the metric's name
	Remedy  string // what to write instead
}

func (e *RuleError) Error() string {
	return fmt.Sprintf("metric %s: %s; %s", human.Visible(e.Rule.Name), human.Visible(e.Problem),
		e.Remedy)
}

// checkFile refuses a rule of a file that leaves the task's folder, or has not exactly one name.
func checkFile(r Rule) *RuleError {
	named := 0
	for _, name := range []string{r.Column, r.Key, r.Tag} {
		if name != "" {
			named++
		}
	}
	switch {
	case named != 1 || r.Pattern != "":
		return &RuleError{r, "reads a file", "write one of column, key and tag, and no pattern"}
	case !filepath.IsLocal(r.File) || strings.ContainsRune(r.File, 0):
		return &RuleError{r, "reads a file outside of the task's folder",
			"write a path relative to it"}
	}
	return nil
}
