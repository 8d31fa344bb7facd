package queuetest

import (
	"fmt"
	"testing"
	"time"

	"mlframework/sweep/task"
)

var depthTests = []contractTest{{"depths tell what waits", nil, depths}}

func depths(t *testing.T, f Fixture) {
	f.Worker("w2")
	publish(t, f, "w1", batches("a-1", 0, 3)...)
	emit(t, f.Worker("w1"), task.Event{Version: task.Version, Worker: "w1"})
	got := map[string]int{}
	var names []string
	wait := map[string]int{"tasks.w1": 3, "tasks.w2": 0, "events": 1, "heartbeats": 0}
	pace := time.NewTicker(5 * time.Millisecond)
	defer pace.Stop()
	for end := time.Now().Add(patience); ; <-pace.C {
		all, err := f.Master.Depths(t.Context(), "w2", "w1", "w9")
		if err != nil {
			t.Fatal(err)
		}
		clear(got)
		names = nil
		for _, d := range all {
			names, got[d.Queue] = append(names, d.Queue), d.Messages
		}
		if fmt.Sprint(got) == fmt.Sprint(wait) || time.Now().After(end) {
			break
		}
	}
	equal(t, got, wait)
	equal(t, names[:2], []string{"tasks.w2", "tasks.w1"})
}
