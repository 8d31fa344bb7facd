package filesync

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"mlframework/projects"
)

// Many tasks whose links lead to folders are chosen in a time that grows with their files alone.
func TestChooseManyLinks(t *testing.T) {
	t.Parallel()
	var offered []projects.Entry
	for i := range 4000 {
		task := fmt.Sprint(i)
		offered = append(offered, projects.Entry{Path: task, Kind: projects.Dir}, projects.Entry{Path: task + "/ck", Kind: projects.Dir})
		for n := range 50 {
			offered = append(offered, projects.Entry{Path: fmt.Sprintf("%s/ck/%d.pt", task, n), Kind: projects.File})
		}
		offered = append(offered, projects.Entry{Path: task + "/latest", Kind: projects.Symlink, Link: "ck"},
			projects.Entry{Path: task + "/other.pt", Kind: projects.File})
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	begun := time.Now()
	chosen, err := choose(ctx, []string{"latest"}, offered)
	if err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begun); took > 20*time.Second {
		t.Errorf("it took %v", took)
	}
	n := 0
	for _, e := range offered {
		if chosen(e) {
			n++
		}
	}
	if want := 4000 * 53; n != want {
		t.Errorf("%d were chosen, want %d", n, want)
	}
	cancel()
	if _, err := choose(ctx, []string{"latest"}, offered); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %v", err)
	}
}
