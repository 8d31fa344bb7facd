package main

import (
	"io"
	"time"

	"mlframework/sweep/table"
)

// timeZone returns the time zone in which people are shown times.
func timeZone() *time.Location { return time.Local }

// zoned is the layout of times that people are shown.
const zoned = time.DateTime + " MST"

func encode(w io.Writer, v any) error { return table.WriteJSONLine(w, v) }
