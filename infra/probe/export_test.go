package probe

import "time"

// Parse reads a host's answer.
func Parse(out string) (Facts, error) { return parse(out, time.Time{}, time.Time{}) }
