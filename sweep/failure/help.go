package failure

import (
	"regexp"
	"strings"
)

// pointer matches lines that only say where help, details or a log are.
var pointer = regexp.MustCompile(`(?i)^ *(` +
	`(use|pass|try|run|type|call|for|see)\b.*-h(elp\w*)?\b` +
	`|(please )?(see|refer to|check the logs?)\b` +
	`|for (more|further|details?|detailed|help|usage)\b` +
	`|(a )?(complete|full) log\b` +
	`)|\s--?help$`)

// helpAt is where those of the last lines begin that only point at help or a log; len(lines): none
// does. What stands below "usage" and is indented, or is a heading of that, is help, too.
func helpAt(lines []string) int {
	n := len(lines)
	for left := n; left > 0; left = meaningful(lines[:n]) {
		if pointer.MatchString(lines[left-1]) {
			n = left - 1
		} else if at := usageAt(lines[:left]); at >= 0 {
			n = at
		} else {
			break
		}
	}
	return n
}

// mostUsage is how many lines a program's usage may have.
const mostUsage = 200

// usageAt is where the usage begins that the last lines are; -1: they are none.
func usageAt(lines []string) int {
	for i := len(lines) - 1; i >= max(0, len(lines)-mostUsage); i-- {
		switch text := lines[i]; {
		case strings.HasPrefix(strings.ToLower(text), "usage"):
			return i
		case text != "" && text[0] != ' ' && (saysError(text) || !strings.HasSuffix(text, ":")):
			return -1
		}
	}
	return -1
}
