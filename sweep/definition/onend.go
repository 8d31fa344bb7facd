package definition

import (
	"slices"
	"strings"

	"mlframework/sweep/task"
)

func onEndKeys() []key[task.OnEnd] {
	return []key[task.OnEnd]{
		{"run", "run: [python, report.py]", readOnEndRun},
		{"on", "on: " + task.OnSuccess, readOnEndOn},
	}
}

// readOnEnd reads what runs when a sweep has ended.
func readOnEnd(r *reader, t *Task, v value) {
	o := &task.OnEnd{On: task.OnAlways}
	present, ok := object(r, v, o, onEndKeys(), place{})
	if _, found := present["run"]; ok && !found {
		r.Wrong(v, "has no run")
	}
	t.OnEnd = o
}

func readOnEndRun(r *reader, o *task.OnEnd, v value) {
	elements, ok := r.List(v)
	if ok && len(elements) == 0 {
		r.Wrong(v, "is empty")
	}
	for i, e := range elements {
		word, ok := r.argument(e)
		if ok && i == 0 && word == "" {
			r.Fault(e, "is empty", "write the name of a program")
		}
		o.Run = append(o.Run, quoteBraces(word, nil))
	}
}

func readOnEndOn(r *reader, o *task.OnEnd, v value) {
	text, ok := r.Word(v)
	if ok && !slices.Contains(task.OnEnds, text) {
		r.Wrong(v, "is not one of "+strings.Join(task.OnEnds, ", "))
	}
	o.On = text
}
