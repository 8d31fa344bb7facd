package task

import (
	"iter"
	"slices"
	"strconv"
	"strings"

	"mlframework/sweep/fault"
	"mlframework/sweep/space"
)

// Placeholders are the names that stand in braces for what an attempt is, in this order. All other
// names are parameters.
var Placeholders = []string{"host", "slot", "index", "output", "task"}

// PlaceholderValues is what Placeholders stand for. What is "" is not known, and stays as it is
// written.
type PlaceholderValues struct {
	Host, Slot string
	Index      string // of the task in its sweep
	Output     string // the task's folder
	Task       string // its ID
}

func (p PlaceholderValues) value(name string) (string, bool) {
	value := ""
	switch name {
	case "host":
		value = p.Host
	case "slot":
		value = p.Slot
	case "index":
		value = p.Index
	case "output":
		value = p.Output
	case "task":
		value = p.Task
	default:
		return "", false
	}
	if value == "" {
		value = "{" + name + "}"
	}
	return value, true
}

func valueOf(name string, of []space.Assignment) (string, bool) {
	for _, p := range of {
		if p.Name == name {
			return p.Value, true
		}
	}
	return "", false
}

// ExpandCommand is the recipe's command for one attempt of a task: names in braces are replaced, {{
// and }} become single braces. Flags are appended to the result, as their braces stay as they are.
func (r Recipe) ExpandCommand(at PlaceholderValues, of []space.Assignment) []string {
	argv := make([]string, len(r.Command))
	for i, argument := range r.Command {
		argv[i] = at.expand(argument, of)
	}
	return argv
}

// ExpandEnv is the recipe's Env for one attempt, expanded like its command where EnvBraces says so.
func (r Recipe) ExpandEnv(at PlaceholderValues, of []space.Assignment) map[string]string {
	if !r.EnvBraces {
		return r.Env
	}
	all := make(map[string]string, len(r.Env))
	for name, value := range r.Env {
		all[name] = at.expand(value, of)
	}
	return all
}

func (p PlaceholderValues) expand(text string, of []space.Assignment) string {
	if !strings.ContainsAny(text, "{}") {
		return text
	}
	var b strings.Builder
	for piece := range pieces(text) {
		value, ok := p.value(piece.name)
		if !ok {
			value, ok = valueOf(piece.name, of)
		}
		if !ok {
			value = piece.plain
		}
		b.WriteString(value)
	}
	return b.String()
}

// BindParameters replaces, in a command's argument, the names of a task's parameters alone: what is
// left is to be expanded still. So it is what the argument says wherever and as whatever task it
// runs.
func BindParameters(argument string, of []space.Assignment) string {
	if !strings.ContainsAny(argument, "{}") {
		return argument
	}
	var b strings.Builder
	for piece := range pieces(argument) {
		if value, ok := valueOf(piece.name, of); ok && !slices.Contains(Placeholders, piece.name) {
			b.WriteString(Escape(value))
		} else {
			b.WriteString(piece.text)
		}
	}
	return b.String()
}

var doubled = strings.NewReplacer("{", "{{", "}", "}}")

// Escape doubles the braces of a text, so that it is expanded to itself.
func Escape(text string) string { return doubled.Replace(text) }

// ParameterNames are the parameters that a text has in braces, each once, in their order.
func ParameterNames(text string) (names []string) {
	if !strings.ContainsAny(text, "{}") {
		return nil
	}
	for piece := range pieces(text) {
		if piece.name != "" && !slices.Contains(Placeholders, piece.name) &&
			!slices.Contains(names, piece.name) {
			names = append(names, piece.name)
		}
	}
	return names
}

// ParameterNames are the parameters that the recipe's command has in braces, each once, in their
// order.
func (r Recipe) ParameterNames() (names []string) {
	for _, argument := range r.Command {
		for _, name := range ParameterNames(argument) {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// NoArguments returns the parameters that are not passed as separate arguments: those in braces and
// the number of the repeat.
func (r Recipe) NoArguments() []string {
	names := r.ParameterNames()
	if r.CountsRepeats && !slices.Contains(names, space.RepeatName) {
		names = append(names, space.RepeatName)
	}
	return names
}

// UnknownName says that a name in braces is none of the parameters that there are, and what to
// write.
func UnknownName(name string, parameters []string) (problem, remedy string) {
	known := slices.Concat(parameters, Placeholders)
	if near := fault.Nearest(strings.TrimSpace(name), known); near != "" {
		remedy = "did you mean {" + near + "}? Braces of your own are {{ and }}"
	} else {
		remedy = "write one of {" + strings.Join(known, "} {") +
			"}, or {{ and }} for braces of your own"
	}
	if letters := []rune(name); len(letters) > 60 {
		name = string(letters[:60]) + "…"
	}
	return strconv.Quote("{"+name+"}") + " is not the name of a parameter", remedy
}

// HasPlaceholder reports whether a text has a name in braces.
func HasPlaceholder(text, name string) bool {
	for piece := range pieces(text) {
		if piece.name == name && name != "" {
			return true
		}
	}
	return false
}

// HasPlaceholders reports whether a text has names in braces.
func HasPlaceholders(text string) bool {
	for piece := range pieces(text) {
		if piece.name != "" {
			return true
		}
	}
	return false
}

// BadBraces is the first piece of a text with a brace that means nothing, or "": a lone brace, or
// braces without a name. They are expanded to themselves.
func BadBraces(text string) string {
	for piece := range pieces(text) {
		if piece.bad {
			return piece.text
		}
	}
	return ""
}

// piece is a part of a text with names in braces.
type piece struct {
	text  string // as it is written
	plain string // as it is without a value: {{ is {
	name  string // in braces; "": none
	bad   bool   // it has a brace that means nothing
}

// pieces takes a text apart.
func pieces(text string) iter.Seq[piece] {
	return func(yield func(piece) bool) {
		for text != "" {
			p := next(text)
			text = text[len(p.text):]
			if !yield(p) {
				return
			}
		}
	}
}

// next is the piece at the start of a text.
func next(s string) piece {
	switch i := strings.IndexAny(s, "{}"); {
	case i < 0:
		return piece{text: s, plain: s}
	case i > 0:
		return piece{text: s[:i], plain: s[:i]}
	case strings.HasPrefix(s, "{{") || strings.HasPrefix(s, "}}"):
		return piece{text: s[:2], plain: s[:1]}
	}
	end := strings.IndexAny(s[1:], "{}") + 1
	if s[0] == '}' || end == 0 || s[end] == '{' {
		return piece{text: s[:1], plain: s[:1], bad: true}
	}
	return piece{text: s[:end+1], plain: s[:end+1], name: s[1:end], bad: end == 1}
}
