package table

import (
	"cmp"
	"slices"

	"mlframework/sweep/human"
)

// reasonWidth is the width of reasons in a table that is too wide.
const reasonWidth = 32

func (l *layout) width() int {
	total := -gap
	for _, t := range l.shown() {
		total += t.width + gap
	}
	return total
}

// fit makes the table give way until it is at most width wide.
func (l *layout) fit(width int) {
	if width <= 0 || l.width() <= width {
		return
	}
	l.fold(func(t *textColumn) bool { return !t.keep && (l.rows > 1 || t.fold) })
	if l.width() > width {
		l.shortenID()
	}
	widen := l.narrowReason()
	for l.width() > width && l.hideOne() {
	}
	widen(width - l.width())
	for l.width() > width && l.cutOne() {
	}
}

// narrowReason cuts the reasons, so that they are not hidden for their width alone. The returned
// function widens them by up to room again.
func (l *layout) narrowReason() (widen func(room int)) {
	at := slices.IndexFunc(l.columns, func(t *textColumn) bool { return t.worth == worthReason })
	if at < 0 {
		return func(int) {}
	}
	t := l.columns[at]
	full := t.width
	t.width = min(full, reasonWidth)
	return func(room int) { t.width = min(full, t.width+max(0, room)) }
}

// fold moves those columns that may be moved, and are the same in all rows, to the line above. That
// line does not say that all went as expected.
func (l *layout) fold(may func(*textColumn) bool) {
	for _, t := range l.columns {
		if may(t) && t.constant && !t.folded {
			if t.folded = true; !t.expected() {
				l.folded = append(l.folded, t.name+"="+t.first)
			}
		}
	}
}

// expected reports whether the values are those of tasks that succeeded at once.
func (t *textColumn) expected() bool {
	switch t.worth {
	case worthState:
		return t.first == "succeeded"
	case worthAttempts:
		return t.first == "1"
	case worthExitCode:
		return t.first == "0"
	}
	return false
}

// shortenID shows indexes instead of ids where all are of one sweep.
func (l *layout) shortenID() {
	if l.sweep == "" {
		return
	}
	l.index.name, l.index.worth, l.index.keep = indexColumn, essential, true
	l.index.width = max(l.index.width, len(indexColumn))
	l.columns[0] = l.index
	l.folded = slices.Insert(l.folded, 0, "sweep="+human.Visible(l.sweep))
}

// hideOne hides the column of least worth, the last of several.
func (l *layout) hideOne() bool {
	shown := l.shown()
	slices.Reverse(shown)
	t := slices.MinFunc(shown, func(a, b *textColumn) int { return cmp.Compare(a.worth, b.worth) })
	t.hidden = t.worth < essential
	return t.hidden
}

// cutOne makes the widest column narrower by one.
func (l *layout) cutOne() bool {
	t := slices.MaxFunc(l.shown(), func(a, b *textColumn) int {
		return cmp.Compare(a.width, b.width)
	})
	if t.width <= leastCut {
		return false
	}
	t.width--
	return true
}
