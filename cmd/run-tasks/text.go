package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"mlframework/sweep/space"
	"mlframework/sweep/table"
)

// timeZone returns the time zone in which people are shown times.
func timeZone() *time.Location { return time.Local }

// zoned is the layout of times that people are shown.
const zoned = time.DateTime + " MST"

// nearPath is an absolute path as it is shortest to type here.
func nearPath(path string) string {
	here, err := os.Getwd()
	if err != nil {
		return path
	}
	if near, err := filepath.Rel(here, path); err == nil && filepath.IsLocal(near) {
		return near
	}
	return path
}

func pick(n int, one, more string) string {
	if n == 1 {
		return one
	}
	return more
}

// thousands writes a number with commas: 5,000.
func thousands(n int) string {
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

// size writes a number of bytes as people say it: 1.2 MB.
func size(n int64) string {
	units := []string{"kB", "MB", "GB", "TB"}
	if n < 1000 {
		return fmt.Sprintf("%d B", n)
	}
	value, unit := float64(n)/1000, 0
	for value >= 999.95 && unit < len(units)-1 {
		value, unit = value/1000, unit+1
	}
	return fmt.Sprintf("%.1f %s", value, units[unit])
}

// tasksOf is so many points of a space in words: combinations, unless several points repeat one.
func tasksOf(s *space.Space, n int64) string {
	if len(s.Repeats()) > 0 {
		return plural(n, "task")
	}
	return combinations(n)
}

func combinations(n int64) string { return plural(n, "combination") }

func plural(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// enumerated is "a, b and c".
func enumerated(texts []string) string {
	last := len(texts) - 1
	if last < 1 {
		return strings.Join(texts, "")
	}
	return strings.Join(texts[:last], ", ") + " and " + texts[last]
}

// enumeratedFirst returns "a, b and c", or for many texts "a, b, c, d, e and 7 more".
func enumeratedFirst(texts []string) string {
	if len(texts) > excludedShown {
		return firstOf(texts)
	}
	return enumerated(texts)
}

func encode(w io.Writer, v any) error { return table.WriteJSONLine(w, v) }
