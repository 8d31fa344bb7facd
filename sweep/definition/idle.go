package definition

import (
	"strconv"
	"strings"
	"time"

	"mlframework/internal/yamlfile"
	"mlframework/sweep/fault"
	"mlframework/sweep/task"
)

// leastIdle is how long GPUs have to be idle at least: workers look every five seconds, and data
// may take some to load.
const leastIdle = time.Minute

func idleKeys() []key[task.Idle] {
	return []key[task.Idle]{
		{"below", "below: 5%", readPercent},
		{"for", "for: 30m", readIdleTime},
	}
}

// readIdle reads below which use of its GPUs, and after how long, a task is ended.
func readIdle(r *reader, t *Task, v value) {
	present, ok := object(r, v, &t.Idle, idleKeys(), place{})
	for _, k := range idleKeys() {
		if _, found := present[k.name]; ok && !found {
			r.Wrong(v, "has no "+k.name)
			return
		}
	}
}

func readPercent(r *reader, i *task.Idle, v value) {
	text, ok := r.Text(v)
	if !ok {
		return
	}
	digits, is := strings.CutSuffix(text, "%")
	n, err := strconv.ParseUint(digits, 10, 8)
	if !is || err != nil || n < 1 || n > 100 {
		r.Fault(v, fault.Quote(text)+" is not a percentage that the use of a GPU can be below",
			"write one from 1% to 100%")
		return
	}
	i.Below = int(n)
}

func readIdleTime(r *reader, i *task.Idle, v value) {
	text, ok := r.Text(v)
	if !ok {
		return
	}
	d, problem, remedy := yamlfile.ParseDuration(text)
	if problem == "" && d < leastIdle || strings.HasPrefix(text, "-") {
		problem, remedy = fault.Printable(text)+" is too short", "write 1m or more"
	}
	if problem != "" {
		r.Fault(v, problem, remedy)
	}
	i.For = d
}
