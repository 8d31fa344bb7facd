package filesync_test

import (
	"strconv"
	"sync"
	"testing"

	"mlframework/infra/filesync"
)

// Fetches that begin at the same time, as those from several hosts do, find the same new folder:
// what one of them has put there is no obstacle for the others.
func TestFetchesBeginAtTheSameTime(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	id := filesync.Identity{Owner: "anna", Cluster: "c"}
	for n := range 200 {
		var all sync.WaitGroup
		begin := make(chan struct{})
		for range 4 {
			all.Go(func() {
				<-begin
				if err := filesync.OpenDestination(dir, "train-"+strconv.Itoa(n), id); err != nil {
					t.Error(err)
				}
			})
		}
		close(begin)
		all.Wait()
	}
}
