package projects_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mlframework/projects"
)

// bigProject is 1,500 files of 35 kB: 53 MB, the project that pushing is measured with.
func bigProject(b *testing.B) string {
	files := tree{".gitignore": "*.log\n/build/\n!keep.log\n**/cache/*\n"}
	for i := range 1500 {
		files[fmt.Sprintf("pkg%02d/sub%d/file%04d.py", i%40, i%3,
			i)] = strings.Repeat(fmt.Sprintf("line %7d\n", i), 35000/13)
	}
	return plant(b, files)
}

func BenchmarkScan(b *testing.B) {
	dir := bigProject(b)
	later := func() time.Time { return time.Now().Add(time.Hour) }
	for name, cache := range map[string]string{"cold": "", "warm": filepath.Join(b.TempDir(),
		"hashes")} {
		b.Run(name, func(b *testing.B) {
			opts := projects.Options{Cache: cache, Now: later}
			for range 2 {
				_, err := projects.Scan(context.Background(), dir, opts)
				check(b, err)
			}
			b.ReportAllocs()
			for b.Loop() {
				_, err := projects.Scan(context.Background(), dir, opts)
				check(b, err)
			}
		})
	}
}

func BenchmarkSnapshot(b *testing.B) {
	dir, revisions := bigProject(b), makeRemovable(b, b.TempDir())
	m := scan(b, dir)
	b.Run("new", func(b *testing.B) {
		for b.Loop() {
			_, err := projects.Snapshot(context.Background(), m, revisions)
			check(b, err)
			b.StopTimer()
			check(b, projects.Remove(revisions, m.Revision()))
			b.StartTimer()
		}
	})
	_, err := projects.Snapshot(context.Background(), m, revisions)
	check(b, err)
	b.Run("there already", func(b *testing.B) {
		for b.Loop() {
			_, err := projects.Snapshot(context.Background(), m, revisions)
			check(b, err)
		}
	})
}
