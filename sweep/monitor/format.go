package monitor

import (
	"fmt"
	"html/template"
	"strconv"
	"time"

	"mlframework/sweep/human"
)

// templateFuncs are the functions of templates. What comes from outside passes human.Visible on its
// way into a view, and the templates escape it.
var templateFuncs = template.FuncMap{
	"visible": human.Visible,
	"short":   func(text string) string { return cutRunes(text, maxNameRunes) },
	"moment":  moment,
	"clock":   func(t time.Time) string { return t.UTC().Format(time.TimeOnly) },
	"stamp":   func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
	"count":   count,
	"seconds": seconds,
	"asset":   assetURL,
}

// moment returns a time as tables have it.
func moment(t time.Time) string { return t.UTC().Format(time.DateTime + " MST") }

// seconds returns a duration as people read it.
func seconds(d time.Duration) string { return human.Duration(d.Seconds()) }

// ago returns how long ago something was, where a second more or less says nothing.
func ago(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%d s", int64(max(0, d).Seconds()))
	}
	return seconds(d)
}

// count returns a whole number with its thousands apart.
func count(n int64) string {
	text := strconv.FormatInt(n, 10)
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + "\u202f" + text[at:] // narrow, and no break
	}
	return text
}

// size returns bytes as people read them, in powers of 1024.
func size(bytes int64) string {
	const unit = 1024
	if bytes < unit {
		return fmt.Sprintf("%d B", bytes)
	}
	value, at := float64(bytes)/unit, 0
	for ; value >= 999.5 && at < 4; at++ {
		value /= unit
	}
	if value < 9.95 {
		return fmt.Sprintf("%.1f %ciB", value, "KMGTP"[at])
	}
	return fmt.Sprintf("%.0f %ciB", value, "KMGTP"[at])
}

// percent returns a part of a whole.
func percent(part, whole float64) string {
	if whole <= 0 {
		return ""
	}
	return fmt.Sprintf("%.0f %%", 100*part/whole)
}

// shortRevision returns a revision as people tell it from others.
func shortRevision(revision string) string {
	const enough = 12
	return human.Visible(revision[:min(enough, len(revision))])
}
