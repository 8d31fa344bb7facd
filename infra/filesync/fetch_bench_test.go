package filesync_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"mlframework/infra/filesync"
)

// BenchmarkFetch fetches 20,000 files of 1 kB through a connection with 10 ms of round trip, and
// again, when all of them are there.
func BenchmarkFetch(b *testing.B) {
	root := writable(b)
	marker := `{"version":1,"owner":"anna","cluster":"ml"}`
	must(b, os.WriteFile(filepath.Join(root, ".mlframework-root"), []byte(marker), 0o600))
	content := make([]byte, 1000)
	for i := range 20_000 {
		full := filepath.Join(root, "outputs", "run-1", fmt.Sprint(i/100), fmt.Sprint(i))
		must(b, os.MkdirAll(filepath.Dir(full), 0o755))
		must(b, os.WriteFile(full, content, 0o644))
	}
	const half = 5 * time.Millisecond
	fetch := func(dir string) filesync.Fetched {
		p := start(b, root)
		done, err := client(delayed(p, half), root, anna).Fetch(b.Context(),
			filesync.FetchOptions{Sweep: "run-1", Dir: dir})
		must(b, err)
		must(b, p.Close())
		return done
	}
	dir := b.TempDir()
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			fetch(b.TempDir())
		}
	})
	fetch(dir)
	b.Run("unchanged", func(b *testing.B) {
		for b.Loop() {
			if done := fetch(dir); done.Had != 20_000 {
				b.Error(done)
			}
		}
	})
}
