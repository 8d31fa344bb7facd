package worker_test

import (
	"testing"
	"time"

	"mlframework/sweep/worker"
)

// With the default number of slots, attempts with GPUs run in addition to those in the slots. With
// --slots, each of them takes a slot.
func TestSlotsOfAttemptsWithGPUs(t *testing.T) {
	onCards(t, gpus(gpu(0), gpu(1), gpu(2)), func(t *testing.T, s *site, _ *cards, p *programs) {
		free := each(4, 5, 6)
		free.Slots = 0
		s.send(batch("", 0, 1, 2, 3), free)
		p.running(t, "at once", "0:", "1:", "2:", "3:", "4: GPU-0", "5: GPU-1", "6: GPU-2")
		time.Sleep(time.Minute + time.Millisecond)
		s.send(each(11, 12), batch("", 7, 8, 9, 10))
		time.Sleep(time.Second)
		p.running(t, "then", "11: GPU-0", "12: GPU-1", "7:", "8:")
	}, func(o *worker.Options) { o.Slots = 4 })
}
