package master

import (
	"encoding/json"
	"fmt"

	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/queue"
	"mlframework/sweep/space"
	"mlframework/sweep/task"
)

// checkTaskSize refuses points of which a task may be too long to be sent to a worker: it would
// never begin. A task has its values as arguments and as parameters.
func (m *Master) checkTaskSize(field string, recipe task.Recipe, points ...*space.Space) error {
	if m.o.Local {
		return nil
	}
	shared, err := json.Marshal(recipe)
	if err != nil {
		return err
	}
	const others = 16 << 10 // version, names, numbers
	longest := 0
	for _, p := range points {
		longest = max(longest, p.MaxBytes())
	}
	size := len(shared) + 2*longest + others
	if size <= queue.MaxTaskBytes {
		return nil
	}
	e := api.Wrong(field, fmt.Sprintf("a task can take %d bytes of JSON with its command and "+
		"parameters; at most %d can be sent to a worker", size, queue.MaxTaskBytes))
	e.Remedy = "put long values into files of the project, and their names into the parameters"
	return e
}

// checkSettings is checkTaskSize for all points of a sweep that goes on with other settings; nil
// are those that it has.
func (m *Master) checkSettings(field string, r core.Record, to *core.Settings) error {
	if to == nil {
		return nil
	}
	now, changed := r.Revised(r.Recipe.Revision, *to, m.o.Now())
	if !changed {
		return nil
	}
	return m.checkTaskSize(field, now.Recipe, now.Spaces()...)
}
