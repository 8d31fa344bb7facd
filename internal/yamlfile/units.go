package yamlfile

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"mlframework/sweep/fault"
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

// ParseDuration reads a length of time, at least 0. The problem is "" where there is none.
func ParseDuration(text string) (d time.Duration, problem, remedy string) {
	if numberText.MatchString(text) && strings.Trim(text, "-0.") != "" {
		return 0, fault.Printable(text) + " has no unit",
			"write one: " + withUnits(strings.TrimPrefix(text, "-"), "s", "m", "h")
	}
	parts := durationText.FindStringSubmatch(text)
	switch {
	case numberText.MatchString(text): // it is 0
		return 0, "", ""
	case parts == nil || strings.Trim(text, "-") == "":
		return 0, fault.Quote(text) + " is not a duration", "write one such as 90s, 2h, 1h30m or 1d"
	}
	var total float64
	for i, unit := range units {
		n, _ := strconv.ParseFloat(parts[i+1], 64) // "" is 0, too large is infinite
		total += n * float64(unit)
	}
	switch {
	case total > 0 && text[0] == '-':
		return 0, fault.Printable(text) + " is negative", "write 0 or more"
	case total > float64(maxDuration):
		return 0, fault.Printable(text) + " is longer than ten years", "write 0 for no limit"
	}
	return time.Duration(math.Round(total)), "", ""
}

var sizeText = regexp.MustCompile(`^(\d+(?:\.\d+)?)([kmgtKMGT])(?:i?[bB])?$`)

// ParseSize reads a number of bytes, units being powers of 1024, from least to 1 PiB. The problem
// is "" where there is none.
func ParseSize(text string, least int64) (bytes int64, problem, remedy string) {
	m := sizeText.FindStringSubmatch(text)
	switch {
	case numberText.MatchString(text) && text[0] == '-':
		return 0, fault.Printable(text) + " is negative", "write a size such as 512m or 2g"
	case numberText.MatchString(text):
		return 0, fault.Printable(text) + " has no unit", "write one: " + withUnits(text, "m", "g")
	case m == nil:
		return 0, fault.Quote(text) + " is not a size", "write one such as 512m or 2g"
	}
	n, _ := strconv.ParseFloat(m[1], 64)
	n *= math.Pow(1024, float64(1+strings.Index("kmgt", strings.ToLower(m[2]))))
	switch {
	case n < float64(least):
		return 0, fault.Printable(text) + " is too small",
			fmt.Sprintf("write %s or more", sizeWords(least))
	case n > 1<<50:
		return 0, fault.Printable(text) + " is too large", "write 1024t or less"
	}
	return int64(math.Round(n)), "", ""
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
		units[i] = fault.Printable(number) + u
	}
	last := len(units) - 1
	return strings.Join(units[:last], ", ") + " or " + units[last]
}
