package definition

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"mlframework/internal/yamlfile"
	"mlframework/sweep/fault"
)

// words returns a list of such texts, each there once.
func (r *reader) words(v value) []value {
	elements, _ := r.List(v)
	seen := map[string]bool{}
	return slices.DeleteFunc(elements, func(e value) bool {
		text, ok := r.Word(e)
		if ok && seen[text] {
			r.Fault(e, fault.Quote(text)+" is there twice", "remove one")
			ok = false
		}
		seen[text] = true
		return !ok
	})
}

// boolean accepts what YAML 1.2 does, unquoted.
func (r *reader) boolean(v value) (b, ok bool) {
	text, ok := r.Text(v)
	if !ok {
		return false, false
	}
	if b, ok = yamlfile.Boolean(text); ok && yamlfile.IsPlain(v.Node) {
		return b, true
	}
	r.Fault(v, "is "+fault.Quote(text)+", not true or false", "write true or false, without quotes")
	return false, false
}

// count returns a whole number from 0 to limit, unquoted; 0 after a fault.
func (r *reader) count(v value, limit int) int {
	text, ok := r.Text(v)
	if !ok {
		return 0
	}
	digits := strings.TrimPrefix(text, "-")
	if !yamlfile.IsPlain(v.Node) || digits == "" || strings.Trim(digits, "0123456789") != "" {
		r.Wrong(v, "is "+fault.Quote(text)+", not a whole number")
		return 0
	}
	n, err := strconv.Atoi(digits)
	switch {
	case n != 0 && digits != text:
		r.Fault(v, fault.Printable(text)+" is negative", "write 0 or more")
		return 0
	case err != nil || n > limit:
		r.Fault(v, fault.Printable(text)+" is too many", fmt.Sprintf("write %d or less", limit))
		return 0
	}
	return n
}

// duration returns a length of time; 0 after a fault.
func (r *reader) duration(v value) time.Duration {
	text, ok := r.Text(v)
	if !ok {
		return 0
	}
	d, problem, remedy := yamlfile.ParseDuration(text)
	if problem != "" {
		r.Fault(v, problem, remedy)
	}
	return d
}

// size returns a number of bytes; 0 after a fault.
func (r *reader) size(v value, least int64) int64 {
	text, ok := r.Text(v)
	if !ok {
		return 0
	}
	n, problem, remedy := yamlfile.ParseSize(text, least)
	if problem != "" {
		r.Fault(v, problem, remedy)
	}
	return n
}

// projectPath returns a clean relative path that stays in the project; what names the kind, "file"
// or "folder".
func (r *reader) projectPath(v value, what string) string {
	text, ok := r.Word(v)
	if !ok {
		return ""
	}
	clean := path.Clean(text)
	switch {
	case path.IsAbs(text) || strings.HasPrefix(text, "~") ||
		!filepath.IsLocal(filepath.FromSlash(clean)):
		r.Fault(v, fault.Quote(text)+" is outside the project",
			"name a "+what+" of the project: "+v.Example)
		return ""
	case what == "file" && (clean == "." || strings.HasSuffix(text, "/")):
		r.Fault(v, fault.Quote(text)+" is a folder, not a file", "write "+v.Example)
		return ""
	}
	return clean
}
