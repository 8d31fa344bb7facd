package infra_test

import (
	"testing"
)

// Another number of slots reaches a worker through the master: its container is neither stopped nor
// replaced, and a call after that has nothing to do.
func TestSlotsOfAWorkerThatRuns(t *testing.T) {
	t.Parallel()
	f := newHosts(t, "gpu1", "gpu2")
	r := f.request("gpu1", "gpu2")
	if _, err := f.up(r); err != nil {
		t.Fatal(err)
	}
	worker := func() noted {
		e := f.hosts["gpu2"].engine
		e.mu.Lock()
		defer e.mu.Unlock()
		return *e.containers["mlframework-c-worker"]
	}
	before := worker()
	f.hosts["gpu2"].engine.stopped = func() { t.Error("the worker was stopped") }
	r.Hosts[1].Work.Slots, r.Now = 3, false
	if _, err := f.up(r); err != nil {
		t.Fatal(err)
	}
	now := worker()
	if now.ID != before.ID || now.State != "running" || f.slots["gpu2"] != 3 || f.drained["gpu2"] {
		t.Errorf("%s %s; %d slots", now.ID, now.State, f.slots["gpu2"])
	}
	if limit := now.Host["PidsLimit"]; limit != 4.*2048 {
		t.Errorf("the limit of processes is %v", limit)
	}
	if again, err := f.up(r); err != nil || again.Plan.Changes {
		t.Errorf("again: %+v, %v", again.Plan.Steps, err)
	}
}
