package failure

import (
	"regexp"
	"strings"
)

// pointer matches lines that only refer to help, details or a log.
var pointer = regexp.MustCompile(`(?i)^ *(` +
	`(use|pass|try|run|type|call|for|see)\b.*-h(elp\w*)?\b` +
	`|(please )?(see|refer to|check the logs?)\b` +
	`|for (more|further|details?|detailed|help|usage)\b` +
	`|(a )?(complete|full) log\b` +
	`)|\s--?help$`)

// helpAt returns the index of the first of the last lines that only refer to help or a log;
// len(lines) if there are none. Indented lines below "usage", and their headings, are help, too.
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

// mostUsage is the maximum number of lines of a program's usage.
const mostUsage = 200

// usageAt returns the index at which the usage at the end of lines begins; -1 if they do not end
// with a usage.
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
