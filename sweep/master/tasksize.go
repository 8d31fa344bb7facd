package master

import (
	"encoding/json"
	"fmt"

	"mlframework/sweep/api"
	"mlframework/sweep/queue"
	"mlframework/sweep/space"
	"mlframework/sweep/task"
)

// checkTaskSize refuses points of which a task may be too long to be sent to a worker: it would
// never begin. A task has its values as arguments and as parameters.
func (m *Master) checkTaskSize(field string, recipe task.Recipe, points *space.Space) error {
	if m.o.Local {
		return nil
	}
	shared, err := json.Marshal(recipe)
	if err != nil {
		return err
	}
	const others = 16 << 10 // version, names, numbers
	size := len(shared) + 2*points.MaxBytes() + others
	if size <= queue.MaxTaskBytes {
		return nil
	}
	e := api.Wrong(field, fmt.Sprintf("a task can take %d bytes of JSON with its command and "+
		"parameters; at most %d can be sent to a worker", size, queue.MaxTaskBytes))
	e.Remedy = "put long values into files of the project, and their names into the parameters"
	return e
}
