package human

import (
	"fmt"
	"strings"
)

// Pick returns one if n is 1, and more otherwise.
func Pick(n int, one, more string) string {
	if n == 1 {
		return one
	}
	return more
}

// Plural writes a number of things whose plural ends in s: "1 task", "24 tasks".
func Plural(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// List writes texts as a list: "a, b and c".
func List(texts []string) string {
	last := len(texts) - 1
	if last < 1 {
		return strings.Join(texts, "")
	}
	return strings.Join(texts[:last], ", ") + " and " + texts[last]
}

// listed is how many texts of a longer list are written.
const listed = 5

// ListFirst writes texts as List does, and of many only the first: "a, b, c, d, e and 7 more".
func ListFirst(texts []string) string {
	if rest := len(texts) - listed; rest > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(texts[:listed], ", "), rest)
	}
	return List(texts)
}

// Thousands writes a number with commas: 5,000.
func Thousands(n int) string {
	text := fmt.Sprint(n)
	var b strings.Builder
	for i, digit := range text {
		if i > 0 && (len(text)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(digit)
	}
	return b.String()
}

// Size writes a number of bytes in powers of 1000: 1.2 MB.
func Size(bytes int64) string {
	units := []string{"kB", "MB", "GB", "TB"}
	if bytes < 1000 {
		return fmt.Sprintf("%d B", bytes)
	}
	value, unit := float64(bytes)/1000, 0
	for value >= 999.95 && unit < len(units)-1 {
		value, unit = value/1000, unit+1
	}
	return fmt.Sprintf("%.1f %s", value, units[unit])
}

// WithFrame adds to the reason of a failure where it was raised, unless it says so: "exit code 1:
// KeyError: 'lr' (train.py:41)". Nil: that is not known.
func WithFrame(reason string, frame *string) string {
	if frame == nil || strings.Contains(reason, "("+*frame) {
		return reason
	}
	return reason + " (" + *frame + ")"
}
