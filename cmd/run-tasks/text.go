package main

import (
	"io"
	"os"
	"path/filepath"
	"time"

	"mlframework/sweep/human"
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

// tasksOf is so many points of a space in words: combinations, unless several points repeat one.
func tasksOf(s *space.Space, n int64) string {
	if len(s.Repeats()) > 0 {
		return human.Plural(n, "task")
	}
	return combinations(n)
}

func combinations(n int64) string { return human.Plural(n, "combination") }

func encode(w io.Writer, v any) error { return table.WriteJSONLine(w, v) }
