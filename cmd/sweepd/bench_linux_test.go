package main_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"mlframework/sweep/api"
)

// BenchmarkFollowedOutput runs b.N tasks that print 100 MB each, as fast as they can, on two
// workers of two slots, while somebody follows. It reports the greatest resident memory of the
// master, and how many lines were told and left out:
//
//	go test -run '^$' -bench FollowedOutput -benchtime 30x ./cmd/sweepd
func BenchmarkFollowedOutput(b *testing.B) {
	const size = 100_000_000
	s := open(b)
	c := newCluster(b, s)
	c.worker("w1", s)
	c.worker("w2", s)
	ctx, cancel := context.WithCancel(b.Context())
	var told, missed int64
	b.SetBytes(size)
	b.ResetTimer()
	id := c.sweep("loud", fmt.Sprintf(`seq -f "loud %%020.0f" 1 100000000 | head -c %d`, size),
		int64(b.N))
	var follower sync.WaitGroup
	follower.Go(func() {
		_ = c.client.Follow(ctx, id, api.FollowOptions{Detail: api.DetailOutput},
			func(u api.Update) error {
				missed += u.Missed
				for _, l := range u.Lines {
					missed += l.Missed
				}
				told += int64(len(u.Lines))
				return nil
			})
	})
	c.ended(time.Hour, id)
	b.StopTimer()
	cancel()
	follower.Wait()
	b.ReportMetric(float64(highWater(c.master.guard()))/1000, "master-MB")
	b.ReportMetric(float64(told), "lines-told")
	b.ReportMetric(float64(missed), "lines-missed")
}
