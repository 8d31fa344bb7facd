package filesync

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"mlframework/projects"
)

// Tasks whose links lead to folders: what is in those is chosen, too, until the context ends.
func TestChooseManyLinks(t *testing.T) {
	t.Parallel()
	offered := linked(50)
	ctx, cancel := context.WithCancel(t.Context())
	chosen, err := choose(ctx, []string{"latest"}, offered)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, e := range offered {
		if chosen(e) {
			n++
		}
	}
	if want := 50 * 53; n != want {
		t.Errorf("%d were chosen, want %d", n, want)
	}
	cancel()
	if _, err := choose(ctx, []string{"latest"}, offered); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %v", err)
	}
}

// BenchmarkChooseManyLinks is of 4,000 tasks: the time per task is that of one.
func BenchmarkChooseManyLinks(b *testing.B) {
	offered := linked(4000)
	for b.Loop() {
		if _, err := choose(b.Context(), []string{"latest"}, offered); err != nil {
			b.Fatal(err)
		}
	}
}

// linked is what so many tasks offer, each with 50 checkpoints in a folder and a link to that.
func linked(tasks int) (offered []Output) {
	add := func(path string, kind projects.Kind, link string) {
		offered = append(offered, Output{Entry: projects.Entry{Path: path, Kind: kind, Link: link}})
	}
	for i := range tasks {
		task := fmt.Sprint(i)
		add(task, projects.Dir, "")
		add(task+"/ck", projects.Dir, "")
		for n := range 50 {
			add(fmt.Sprintf("%s/ck/%d.pt", task, n), projects.File, "")
		}
		add(task+"/latest", projects.Symlink, "ck")
		add(task+"/other.pt", projects.File, "")
	}
	return offered
}
