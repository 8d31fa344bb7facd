package core_test

import (
	"fmt"
	"testing"

	"mlframework/sweep/core"
)

// TestImagesAreBounded: one worker adds a few images to a sweep's record, however many it names;
// others still add theirs.
func TestImagesAreBounded(t *testing.T) {
	t.Parallel()
	var r core.Record
	for n := range 1000 {
		r, _ = r.RanIn(fmt.Sprintf("image-%d@sha256:%d", n, n), "w1")
	}
	if n := len(r.Images); n != core.MostImages {
		t.Errorf("w1 added %d images; want %d", n, core.MostImages)
	}
	r, added := r.RanIn("another@sha256:1", "w2")
	if image, known := r.KeyedOn("w2"); !added || !known || image != "sha256:1" {
		t.Errorf("w2 ran in %q, %v, %v", image, known, added)
	}
	if _, known := r.KeyedOn("w1"); known {
		t.Error("w1 ran in one image")
	}
}
