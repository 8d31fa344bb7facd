package monitor

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"mlframework/sweep/core"
	"mlframework/sweep/human"
	"mlframework/sweep/task"
)

// sweepsOnPage is how many sweeps a page has.
const sweepsOnPage = 50

// sweepsView is the list of sweeps, the newest first.
type sweepsView struct {
	Sweeps     []sweepLine
	From, To   int64 // of all, from 1
	All        int64
	Prev, Next string // URLs; "": there is none
}

// sweepLine is a sweep as it stands.
type sweepLine struct {
	ID, URL, Definition  string
	Outcome              outcome
	Reason               string
	Submitted            time.Time
	Open                 bool   // it has not ended
	Took                 string // how long it ran, or has been open
	Total, Ended         int64
	Share                string // of what has ended
	Bar                  []segment
	Counts               []stateCount // those that are not 0
	Rate, Remaining      string
	Revision, Short      string
	Project, ShortFolder string
}

// stateCount is how many tasks are in a state, and where they are listed.
type stateCount struct {
	State string
	Count int64
	URL   string
}

// segment is a part of a bar, in thousandths.
type segment struct {
	State string
	X, W  int64
}

func (m *Monitor) loadSweeps(r *request) (*content, error) {
	all, err := m.hub.askSweeps(r.Context(), r.version)
	if err != nil {
		return nil, err
	}
	number, _ := strconv.Atoi(r.URL.Query().Get("page")) // what is none is the first
	v := m.sweepsPage(all.value, number, all.asOf)
	return m.warned(r, &content{title: "Sweeps", view: v, asOf: all.asOf}), nil
}

// warned adds what the master warns of; nothing when it is away, which the page says by itself.
func (m *Monitor) warned(r *request, c *content) *content {
	h, err := m.askHealth(r.Context(), r.version)
	if err != nil {
		return c
	}
	for _, w := range h.value.Warnings {
		c.warnings = append(c.warnings, w.String())
	}
	return c
}

// sweepsPage is one page; what is beyond the last is the last.
func (m *Monitor) sweepsPage(all []core.Summary, number int, now time.Time) sweepsView {
	v := sweepsView{All: int64(len(all))}
	last := max(1, (len(all)+sweepsOnPage-1)/sweepsOnPage)
	number = min(max(1, number), last)
	from := (number - 1) * sweepsOnPage
	to := min(from+sweepsOnPage, len(all))
	newest := slices.Clone(all)
	slices.Reverse(newest)
	for _, s := range newest[from:to] {
		v.Sweeps = append(v.Sweeps, m.line(s, now))
	}
	v.From, v.To = int64(min(from+1, to)), int64(to)
	at := func(n int) string {
		return m.o.Prefix + "/sweeps?" + url.Values{"page": {strconv.Itoa(n)}}.Encode()
	}
	if number > 1 {
		v.Prev = at(number - 1)
	}
	if number < last {
		v.Next = at(number + 1)
	}
	return v
}

func (m *Monitor) sweepURL(id string) string { return m.o.Prefix + "/sweeps/" + url.PathEscape(id) }

// line returns a sweep in words.
func (m *Monitor) line(s core.Summary, now time.Time) sweepLine {
	l := sweepLine{ID: human.Visible(s.ID), Open: s.Ended == nil, URL: m.sweepURL(s.ID),
		Definition: human.Visible(s.Definition), Outcome: outcomeOf(s),
		Submitted: s.Submitted, Total: s.Total, Ended: ended(s), Bar: stateBar(s),
		Revision: human.Visible(s.Revision), Short: shortRevision(s.Revision),
		Project:     human.Visible(s.Project),
		ShortFolder: human.Visible(s.Project[strings.LastIndexByte(s.Project, '/')+1:])}
	switch {
	case s.Reason != nil:
		l.Reason = human.Truncate(human.Visible(*s.Reason))
	case s.Waits != nil:
		l.Reason = human.Truncate(human.Visible(*s.Waits))
	case s.Silent != nil:
		l.Reason = human.Truncate(human.Visible(*s.Silent))
	}
	l.Took = seconds(max(0, now.Sub(s.Submitted)))
	if s.Ended != nil {
		l.Took = seconds(s.RanFor())
	}
	l.Share = share(l.Ended, l.Total)
	names, states := shownStates()
	for _, name := range names {
		if n := total(s.Counts, states[name]); n > 0 {
			l.Counts = append(l.Counts, stateCount{name, n,
				l.URL + "?" + url.Values{"state": {strings.Join(states[name], ",")}}.Encode()})
		}
	}
	if rate := m.hub.throughput.perSecond(s.ID); rate > 0 && s.State == core.Open {
		l.Rate, l.Remaining = rateText(rate), human.Duration(float64(s.Total-l.Ended)/rate)
	}
	return l
}

// share returns a part in percent, which is 100 only when it is all.
func share(part, whole int64) string {
	if whole == 0 {
		return ""
	}
	return fmt.Sprintf("%d %%", part*100/whole)
}

// inBar are the states in the order of a bar; what is not begun is its ground.
var inBar = []task.State{task.Succeeded, task.Failed, task.Timeout, task.OOM, task.Lost,
	task.Cancelled, task.Running, task.Claimed, task.Queued}

func stateBar(s core.Summary) (parts []segment) {
	const whole = 1000
	var before int64
	for _, state := range inBar {
		n := s.Counts[state.String()]
		if n == 0 || s.Total <= 0 {
			continue
		}
		from := int64(float64(before) / float64(s.Total) * whole)
		before += n
		to := int64(float64(before) / float64(s.Total) * whole)
		// one task in a million is seen
		parts = append(parts, segment{state.String(), from, max(2, to-from)})
	}
	return parts
}
