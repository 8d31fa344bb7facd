package project

import (
	"testing"

	"mlframework/sweep/definition"
)

// What env says of GPUs is not used by tasks of a host, which see none without gpus.
func TestNoteOfGPUVariables(t *testing.T) {
	t.Parallel()
	for at, want := range map[Location]int{Here: 0, InCluster: 1} {
		p := &Project{File: new(definition.File), Task: definition.Task{Name: "train",
			Env: []definition.Variable{{Name: "CUDA_VISIBLE_DEVICES", Value: "0"}}}}
		p.NoteUnused(at)
		if len(p.Notes) != want {
			t.Errorf("%v: %q", at, p.Notes)
		}
	}
}
