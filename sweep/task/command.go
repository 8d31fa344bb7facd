package task

import (
	"strconv"
	"strings"
)

// Expand is the recipe's command for one slot: {host} and {slot} are replaced, {{ and }} become single braces. Flags are
// appended to the result, as their braces stay as they are.
func (r Recipe) Expand(host string, slot int) []string {
	return r.replace(map[string]string{"host": host, "slot": strconv.Itoa(slot)})
}

// Unplaced is the command as it will run, but for {host} and {slot}, which stay: where it runs is not known yet.
func (r Recipe) Unplaced() []string {
	return r.replace(map[string]string{"host": "{host}", "slot": "{slot}"})
}

func (r Recipe) replace(words map[string]string) []string {
	argv := make([]string, len(r.Command))
	for i, argument := range r.Command {
		argv[i], _ = expand(argument, words)
	}
	return argv
}

// BadBraces is the first piece of a command's argument with a brace that means nothing, or "". Expand keeps it as it is.
func BadBraces(argument string) string {
	_, bad := expand(argument, map[string]string{"host": "", "slot": ""})
	return bad
}

// expand replaces the words in braces.
func expand(argument string, words map[string]string) (text, bad string) {
	if !strings.ContainsAny(argument, "{}") {
		return argument, ""
	}
	var b strings.Builder
	for rest := argument; rest != ""; {
		i := strings.IndexAny(rest, "{}")
		if i < 0 {
			b.WriteString(rest)
			break
		}
		b.WriteString(rest[:i])
		piece, replacement, ok := brace(rest[i:], words)
		if !ok && bad == "" {
			bad = piece
		}
		b.WriteString(replacement)
		rest = rest[i+len(piece):]
	}
	return b.String(), bad
}

// brace reads the piece at the start of s, which is a brace.
func brace(s string, words map[string]string) (piece, replacement string, ok bool) {
	if strings.HasPrefix(s, "{{") || strings.HasPrefix(s, "}}") {
		return s[:2], s[:1], true
	}
	end := strings.IndexAny(s[1:], "{}") + 1
	if s[0] == '}' || end == 0 || s[end] == '{' {
		return s[:1], s[:1], false
	}
	piece = s[:end+1]
	if replacement, ok = words[piece[1:end]]; !ok {
		replacement = piece
	}
	return piece, replacement, ok
}
