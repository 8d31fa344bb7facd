package display

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"mlframework/cmd/internal/cli"
	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/task"
)

// progress is how far a sweep is, as the last line of a terminal shows it.
type progress struct {
	sweep  core.Summary
	best   *api.Best
	newest string  // the newest value of a running task: "acc=0.7 (#3)"
	rate   float64 // tasks that end in a second
}

// The bar's columns, brackets included.
const (
	minBar = 12
	maxBar = 40
)

// part is a part of the line. Parts with a high rank are left out first.
type part struct {
	text string
	rank int
	red  bool
}

// line returns what fits into some columns, the most important parts in any case:
//
//	train-1 12/24 [######------] ETA 1m11s, 1 failed, 2 running, best 0.97 (#7), 11.0/min
func (p progress) line(columns int, colours bool) string {
	done, failed := Tally(p.sweep)
	counts := fmt.Sprintf("%d/%d", done, p.sweep.Total)
	room := columns - len(counts) - 1 - minBar
	var parts []part
	add := func(rank int, red bool, text string) {
		if text != "" {
			parts = append(parts, part{text, rank, red})
		}
	}
	running := p.sweep.Counts[task.Running.String()]
	add(0, false, p.eta(done))
	if failed > 0 {
		add(1, true, fmt.Sprintf("%d failed", failed))
	}
	if n := p.sweep.Counts[task.Cancelled.String()]; n > 0 {
		add(5, false, fmt.Sprintf("%d cancelled", n))
	}
	reason := ""
	switch {
	case p.sweep.Waits != nil && running == 0:
		reason = cli.Visible(*p.sweep.Waits)
		add(2, false, "waits")
	case p.sweep.Silent != nil:
		reason = cli.Visible(*p.sweep.Silent)
		add(2, false, "no heartbeat")
	}
	if p.best != nil {
		_, index, _ := strings.Cut(p.best.Task, "/")
		add(3, false, fmt.Sprintf("best %s (#%s)", p.best.Value, index))
	}
	if running > 0 {
		add(4, false, fmt.Sprintf("%d running", running))
		if p.newest != "" {
			add(7, false, "now "+p.newest)
		}
	}
	if p.rate > 0 && done < p.sweep.Total {
		add(6, false, rateText(p.rate))
	}
	for rank := 8; rank >= 0 && width(parts) > room; rank-- {
		parts = slices.DeleteFunc(parts, func(a part) bool { return a.rank == rank })
	}
	room -= width(parts)
	head := counts
	if name := len(p.sweep.ID) + 1; name <= room && (reason == "" || columns >= 60) {
		head = p.sweep.ID + " " + counts
		room -= name
	}
	room = explain(parts, reason, room)
	bar := minBar + min(max(0, room), maxBar-minBar)
	return head + " " + barText(done, p.sweep.Total, bar) + joined(parts, colours)
}

// explain replaces the part that says that a sweep waits by the reason, cut to the columns that are
// left, and returns how many are left then.
func explain(parts []part, reason string, room int) int {
	at := slices.IndexFunc(parts, func(a part) bool { return a.rank == 2 })
	if at < 0 {
		return room
	}
	before := utf8.RuneCountInString(parts[at].text)
	text := cut(reason, before+room)
	after := utf8.RuneCountInString(text)
	if after < before {
		return room
	}
	parts[at].text = text
	return room + before - after
}

// eta is "ETA 1m11s"; "" before the first task ended.
func (p progress) eta(done int64) string {
	if p.rate <= 0 || done >= p.sweep.Total {
		return ""
	}
	left := time.Duration(float64(p.sweep.Total-done) / p.rate * float64(time.Second))
	return "ETA " + max(time.Second, left.Round(time.Second)).String()
}

// width returns the columns of parts after a bar.
func width(parts []part) (n int) {
	for i, a := range parts {
		n += utf8.RuneCountInString(a.text) + pick(i, 1, 2) // " " or ", "
	}
	return n
}

func joined(parts []part, colours bool) string {
	var b strings.Builder
	for i, a := range parts {
		b.WriteString(pick(i, " ", ", "))
		if a.red && colours {
			a.text = red(a.text)
		}
		b.WriteString(a.text)
	}
	return b.String()
}

// pick returns the first for the index 0, and the other for the rest.
func pick[T any](i int, first, other T) T {
	if i == 0 {
		return first
	}
	return other
}

// barText is "[####----]", some columns wide.
func barText(done, total int64, columns int) string {
	columns -= len("[]")
	full := 0
	if total > 0 {
		full = int(float64(done) / float64(total) * float64(columns))
	}
	return "[" + strings.Repeat("#", full) + strings.Repeat("-", columns-full) + "]"
}

// red returns a text in red (ECMA-48, SGR).
func red(text string) string { return "\x1b[31m" + text + "\x1b[0m" }

// cut returns the beginning of a text that has little room.
func cut(text string, room int) string {
	if letters := []rune(text); len(letters) > room {
		return string(letters[:max(0, room-1)]) + "…"
	}
	return text
}

// shorter is a metric's name for a line that has little room.
func shorter(name string) string { return cut(name, 16) }

func rateText(perSecond float64) string {
	switch {
	case perSecond >= 10:
		return fmt.Sprintf("%.0f/s", perSecond)
	case perSecond >= 0.5:
		return fmt.Sprintf("%.1f/s", perSecond)
	default:
		return fmt.Sprintf("%.1f/min", 60*perSecond)
	}
}
