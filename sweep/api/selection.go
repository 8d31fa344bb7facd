package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"mlframework/sweep/core"
	"mlframework/sweep/task"
)

// Selection chooses tasks of a sweep by a filter. The zero value chooses none by it.
type Selection struct {
	Where Where `json:"where,omitempty"`
	// AtMost is how many tasks the filter may pick: if it picks more, nothing is done, and the error
	// has the status 409 and this parameter. Nil: any number.
	AtMost *int64 `json:"at_most,omitempty"`
}

// Where is a table.Filter; "": there is none. The JSON of a blank one is refused: a script whose
// filter is empty by mistake must not be about all tasks.
type Where string

// UnmarshalJSON reads a filter.
func (w *Where) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return err
	}
	if *w = Where(text); strings.TrimSpace(text) == "" {
		return errors.New("where has no value: leave it out")
	}
	return nil
}

// AtMostParameter is what an error names if a filter picks more tasks than it may.
const AtMostParameter = "at_most"

// The states that a filter chooses among: of a retry, and of a cancel.
var (
	RetriedStates   = []task.State{task.Failed, task.Timeout, task.OOM, task.Lost, task.Cancelled}
	CancelledStates = []task.State{task.Pending, task.Queued, task.Claimed, task.Running}
)

// CancelTasks ends the tasks that a filter picks among those that have not ended.
func (c *Client) CancelTasks(ctx context.Context, id string, by Selection) (s core.Summary,
	err error) {
	return s, c.write(ctx, http.MethodPost, sweepPath(id)+"/cancel", nil, by, &s)
}

// CountsQuery asks how many tasks a filter picks among those in some states, by state; none: all.
func CountsQuery(where string, states ...task.State) GroupQuery {
	return GroupQuery{By: []string{"state"}, Metrics: []string{"duration"},
		Query: Query{Where: where, States: states}}
}

// Counts returns the answer to CountsQuery.
func (p GroupPage) Counts() map[string]int64 {
	counts := map[string]int64{}
	for _, g := range p.Groups {
		if state := g.By["state"]; state != nil {
			counts[*state] = g.Tasks
		}
	}
	return counts
}
