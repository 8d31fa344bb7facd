package remote_test

import (
	"io"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"mlframework/infra/remote"
)

func TestKeepAlives(t *testing.T) {
	t.Parallel()
	const every, hour = 15 * time.Second, time.Hour
	for name, c := range map[string]struct {
		answers, until time.Duration // how long an answer takes, and when answers end
		bytes          time.Duration // between others that come
		gone           time.Duration // 0: it is kept
	}{
		"answers":            {answers: time.Millisecond, until: 3 * hour},
		"answers late":       {answers: 3*every - time.Millisecond, until: 3 * hour},
		"too busy to answer": {bytes: 3*every - time.Millisecond},
		"answers for half an hour": {answers: time.Millisecond, until: hour / 2, gone: hour/2 +
			3*every},
		"never answers": {gone: 4 * every},
		"answers too late": {answers: 3*every + time.Millisecond, until: 3 * hour,
			gone: 4 * every},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begun, done := time.Now(), make(chan struct{})
				var in atomic.Int64
				after := func(d time.Duration) bool {
					select {
					case <-time.After(d):
						in.Add(1)
						return true
					case <-done:
						return false
					}
				}
				if c.bytes > 0 {
					go func() {
						for after(c.bytes) {
						}
					}()
				}
				ask := func() error {
					if time.Since(begun) < c.until && after(c.answers) {
						return nil
					}
					<-done
					return io.EOF
				}
				gone := make(chan bool)
				go func() { gone <- remote.Silent(done, every, in.Load, ask) }()
				select {
				case is := <-gone:
					if took := time.Since(begun); !is || took != c.gone {
						t.Errorf("given up after %s: %v", took, is)
					}
					close(done)
				case <-time.After(hour):
					close(done)
					if <-gone || c.gone != 0 {
						t.Error("it was to be given up, or was at its end")
					}
				}
			})
		})
	}
}
