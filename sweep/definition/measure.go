package definition

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// maxDuration is ten years, more than any attempt runs and far from where sums of durations
// overflow.
const maxDuration = 3650 * 24 * time.Hour

// duration: number and unit, units from large to small, each at most once: 90s, 1h30m, 1d, 1.5h,
// 500ms.
var durationText = regexp.MustCompile(
	`^-?(?:(\d+(?:\.\d+)?)d)?(?:(\d+(?:\.\d+)?)h)?(?:(\d+(?:\.\d+)?)m)?` +
		`(?:(\d+(?:\.\d+)?)s)?(?:(\d+(?:\.\d+)?)ms)?$`)

var numberText = regexp.MustCompile(`^-?\d+(\.\d+)?$`)

var units = []time.Duration{24 * time.Hour, time.Hour, time.Minute, time.Second, time.Millisecond}

// duration returns a length of time, at least 0; 0 after a fault.
func (r *reader) duration(v value) time.Duration {
	text, ok := r.text(v)
	if !ok {
		return 0
	}
	if numberText.MatchString(text) && strings.Trim(text, "-0.") != "" {
		r.fault(v, printable(text)+" has no unit",
			"write one: "+withUnits(strings.TrimPrefix(text, "-"), "s", "m", "h"))
		return 0
	}
	parts := durationText.FindStringSubmatch(text)
	if parts == nil || strings.Trim(text, "-") == "" {
		if !numberText.MatchString(text) {
			r.fault(v, quote(text)+" is not a duration", "write one such as 90s, 2h, 1h30m or 1d")
		}
		return 0
	}
	var total float64
	for i, unit := range units {
		n, _ := strconv.ParseFloat(parts[i+1], 64) // "" is 0, too large is infinite
		total += n * float64(unit)
	}
	switch {
	case total > 0 && text[0] == '-':
		r.fault(v, printable(text)+" is negative", "write 0 or more")
		return 0
	case total > float64(maxDuration):
		r.fault(v, printable(text)+" is longer than ten years", "write 0 for no limit")
		return 0
	}
	return time.Duration(math.Round(total))
}

var sizeText = regexp.MustCompile(`^(\d+(?:\.\d+)?)([kmgtKMGT])(?:i?[bB])?$`)

// size returns a number of bytes, units being powers of 1024, from least to 1 PiB; 0 after a fault.
func (r *reader) size(v value, least int64) int64 {
	text, ok := r.text(v)
	if !ok {
		return 0
	}
	if numberText.MatchString(text) {
		if text[0] == '-' {
			r.fault(v, printable(text)+" is negative", "write a size such as 512m or 2g")
		} else {
			r.fault(v, printable(text)+" has no unit", "write one: "+withUnits(text, "m", "g"))
		}
		return 0
	}
	m := sizeText.FindStringSubmatch(text)
	if m == nil {
		r.fault(v, quote(text)+" is not a size", "write one such as 512m or 2g")
		return 0
	}
	n, _ := strconv.ParseFloat(m[1], 64)
	bytes := n * math.Pow(1024, float64(1+strings.Index("kmgt", strings.ToLower(m[2]))))
	switch {
	case bytes < float64(least):
		r.fault(v, printable(text)+" is too small",
			fmt.Sprintf("write %s or more", sizeWords(least)))
		return 0
	case bytes > 1<<50:
		r.fault(v, printable(text)+" is too large", "write 1024t or less")
		return 0
	}
	return int64(math.Round(bytes))
}

func sizeWords(bytes int64) string {
	if bytes >= 1<<20 {
		return fmt.Sprintf("%dm", bytes>>20)
	}
	return fmt.Sprintf("%dk", bytes>>10)
}

// withUnits returns "30s, 30m or 30h".
func withUnits(number string, units ...string) string {
	for i, u := range units {
		units[i] = printable(number) + u
	}
	last := len(units) - 1
	return strings.Join(units[:last], ", ") + " or " + units[last]
}
