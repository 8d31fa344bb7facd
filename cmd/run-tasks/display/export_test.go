package display

import (
	"mlframework/sweep/api"
	"mlframework/sweep/core"
)

// ProgressLine is the last line of a terminal with some columns.
func ProgressLine(s core.Summary, best *api.Best, newest string, rate float64, columns int) string {
	return progress{s, best, newest, rate}.line(columns, false)
}
