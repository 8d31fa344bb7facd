package monitor

import (
	"context"
	"fmt"
	"net/url"

	"mlframework/sweep/api"
	"mlframework/sweep/human"
	"mlframework/sweep/task"
)

// waiting is how pages name the tasks that have not begun, wherever they wait.
const waiting = "waiting"

var waitingStates = []string{task.Pending.String(), task.Queued.String(), task.Claimed.String()}

// shownStates are the states as pages show them, each with those of the API.
func shownStates() (names []string, states map[string][]string) {
	names, states = []string{waiting}, map[string][]string{waiting: waitingStates}
	for _, s := range task.States {
		if s != task.Pending && s != task.Queued && s != task.Claimed {
			names = append(names, s.String())
			states[s.String()] = []string{s.String()}
		}
	}
	return names, states
}

// askCounts asks how many tasks of a sweep a filter finds, by state; nil: it is wrong.
func (m *Monitor) askCounts(ctx context.Context, s api.Sweep, where string, version int64) (
	reply[map[string]int64], error,
) {
	if where == "" {
		return reply[map[string]int64]{value: s.Counts}, nil
	}
	return ask(ctx, m.answers, "counts "+url.PathEscape(s.ID)+" "+where, version,
		func(ctx context.Context) (map[string]int64, error) {
			page, err := m.o.Master.Groups(ctx, s.ID, api.CountsQuery(where))
			if refusal(err) != nil {
				return nil, nil
			}
			return page.Counts(), err
		})
}

// total sums counts, of some states or of all.
func total(counts map[string]int64, states []string) (n int64) {
	if len(states) == 0 {
		for _, c := range counts {
			n += c
		}
	}
	for _, state := range states {
		n += counts[state]
	}
	return n
}

// rangeText is "1–100 of 144 tasks, best first", or "1–20 of 76 matching tasks (144 in all)".
func rangeText(from, shown, of, all int64, order string) string {
	if of == 0 && all > 0 {
		return "No task matches."
	}
	text := "0"
	if shown > 0 {
		text = count(from) + "–" + count(from+shown-1)
	}
	if of == all {
		text += " of " + count(all) + " tasks"
	} else {
		text += fmt.Sprintf(" of %s matching %s (%s in all)", count(of),
			human.Pick(int(of), "task", "tasks"), count(all))
	}
	if order != "" && shown > 1 {
		text += ", " + order
	}
	return text
}
