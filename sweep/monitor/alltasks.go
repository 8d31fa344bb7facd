package monitor

import (
	"context"
	"fmt"

	"mlframework/sweep/api"
)

// askAllTasks reads a page of the tasks of all sweeps, whose number is given.
func (m *Monitor) askAllTasks(ctx context.Context, sweeps int, q query) (p taskPage, err error) {
	page, err := m.o.Master.AllTasks(ctx, q.apiQuery())
	if p.wrong = refusal(err); p.wrong != nil {
		return p, nil
	}
	p.rows, p.next, p.notes = page.Tasks, page.Next, allTasksNotes(page, sweeps, q)
	return p, err
}

// allTasksNotes says what a page of the tasks of all sweeps does not show.
func allTasksNotes(page api.AllTasks, sweeps int, q query) (notes []string) {
	switch {
	case q.sort != "" && page.Searched < sweeps:
		notes = append(notes, fmt.Sprintf("Sorted are the tasks of the newest %d sweeps, of %d.",
			page.Searched, sweeps))
	case q.sort == "" && page.Next != "" && len(page.Tasks) < q.size:
		notes = append(notes, fmt.Sprintf("%d sweeps were looked through; the next page goes on.",
			page.Searched))
	}
	if page.WithoutColumn > 0 {
		notes = append(notes,
			fmt.Sprintf("%d of %d sweeps have no such column, and nothing to show.",
				page.WithoutColumn, max(page.Searched, page.WithoutColumn)))
	}
	return notes
}
