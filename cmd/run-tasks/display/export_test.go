package display

import "mlframework/sweep/core"

// Left is what stands left of the bar of a sweep on a terminal of some width.
func Left(s core.Summary, width int) string { return (&Bar{now: s}).left(width) }
