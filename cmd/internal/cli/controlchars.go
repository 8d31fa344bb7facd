package cli

import (
	"io"
	"strconv"
	"strings"

	"mlframework/sweep/human"
)

// Visible makes text that comes from elsewhere safe to show on a terminal, as human.Visible does;
// tabs stay.
func Visible(text string) string { return visibleBut(text, "\t") }

// VisibleLines is Visible for text of several lines.
func VisibleLines(text string) string { return visibleBut(text, "\n", "\t") }

func visibleBut(text string, kept ...string) string {
	if len(kept) == 0 {
		return human.Visible(text)
	}
	parts := strings.Split(text, kept[0])
	for i, p := range parts {
		parts[i] = visibleBut(p, kept[1:]...)
	}
	return strings.Join(parts, kept[0])
}

// Shown writes whole lines with their control codes made visible.
type Shown struct{ To io.Writer }

// Write is VisibleLines for what is written at once.
func (s Shown) Write(lines []byte) (int, error) {
	_, err := io.WriteString(s.To, VisibleLines(string(lines)))
	return len(lines), err
}

// VisibleOutput is for what programs print: line ends and carriage returns stay.
func VisibleOutput(text string) string { return visibleBut(text, "\n", "\r", "\t") }

// Known is a number in a table; what is not known is left open.
func Known(n *int) string {
	if n == nil {
		return ""
	}
	return strconv.Itoa(*n)
}

// Files is a number of files in words.
func Files(n int) string {
	if n == 1 {
		return "1 file"
	}
	return strconv.Itoa(n) + " files"
}
