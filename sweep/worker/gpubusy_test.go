package worker_test

import (
	"math"
	"path/filepath"
	"testing"
	"time"

	"mlframework/nvdocker"
	"mlframework/sweep/worker"
)

func TestGPUInUseByOthers(t *testing.T) {
	onCards(t, gpus(gpu(0), gpu(1, busy)), func(t *testing.T, s *site, c *cards, p *programs) {
		beats := s.queue.Heartbeats(t.Context())
		s.skip(beats)
		s.send(each(0, 1))
		p.running(t, "while another is busy", "0: GPU-0")
		time.Sleep(4 * time.Second)
		s.skip(beats)
		c.set(gpus(gpu(0, busy), gpu(1)))
		begin := time.Now()
		var told time.Duration
		for h := range beats {
			if len(h.GPUs) == 2 && h.GPUs[1].Unavailable == "" {
				told = h.Time.Sub(begin)
				break
			}
		}
		if looks := c.since(begin); len(looks) == 0 || told != looks[0] || told > 5*time.Second {
			t.Errorf("a heartbeat says that it is free after %v; looks: %v", told, looks)
		}
		p.running(t, "when it is free", "0: GPU-0", "1: GPU-1")
	})
}

// Somebody may have begun to use a GPU since the latest look at it.
func TestGPUsAreLookedAtBeforeAnAttempt(t *testing.T) {
	onCards(t, gpus(gpu(0), gpu(1)), func(t *testing.T, s *site, c *cards, p *programs) {
		time.Sleep(time.Second)
		c.set(gpus(gpu(0, busy), gpu(1)))
		s.send(each(0, 1))
		p.running(t, "when one has come into use", "1: GPU-1")
	}, local)
}

func TestGPUsAreLookedAtBetweenLooks(t *testing.T) {
	onCards(t, gpus(gpu(0), gpu(1), gpu(2)),
		func(t *testing.T, s *site, c *cards, p *programs) {
			s.send(each(0))
			p.running(t, "at first", "0: GPU-0")
			time.Sleep(9 * time.Second) // between looks
			c.set(gpus(gpu(0), gpu(1, busy), gpu(2)))
			s.send(using(1, "GPU-1", 1), using(1, "GPU-2", 2))
			p.running(t, "when one has come into use", "0: GPU-0", "2: GPU-2")
		})
}

// What others use counts by its memory and by their locks, or not at all, as the worker's user says.
func TestWhatKeepsAGPUFromTasks(t *testing.T) {
	little := func(g *nvdocker.GPU) { // a desktop, and a program that computes
		g.Used, g.Processes = 900<<20, []nvdocker.Process{{PID: 412, Memory: 300 << 20}}
	}
	for name, c := range map[string]struct {
		above   int64
		ignored bool
		want    []string
	}{
		"memory":         {0, false, []string{"2: GPU-2"}},
		"little memory":  {300 << 20, false, nil},
		"mine, or locks": {math.MaxInt64, false, []string{"0: GPU-0", "2: GPU-2"}},
		"never":          {math.MaxInt64, true, []string{"0: GPU-0", "1: GPU-1", "2: GPU-2"}},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			onCards(t, gpus(gpu(0, busy), gpu(1), gpu(2, little)),
				func(t *testing.T, s *site, _ *cards, p *programs) {
					lock, err := worker.Acquire(t.Context(),
						filepath.Join(folder, gpuLock("GPU-1")), anna)
					s.must(err)
					s.send(each(0, 1, 2))
					time.Sleep(10 * time.Second)
					p.running(t, name, c.want...)
					s.must(lock.Release())
				}, locking(folder, "w1"), func(o *worker.Options) {
					o.GPUBusyAbove, o.IgnoreGPULocks = c.above, c.ignored
				})
		})
	}
}

// The memory of a program that has ended may stay in use for some time.
func TestMemoryOfAnEndedAttempt(t *testing.T) {
	onCards(t, gpus(gpu(0)), func(t *testing.T, s *site, c *cards, p *programs) {
		s.send(using(1, "GPU-0", 0, 1))
		p.running(t, "at first", "0: GPU-0")
		c.set(gpus(gpu(0, filled)))
		time.Sleep(61 * time.Second)
		p.running(t, "its memory is in use")
		c.set(gpus(gpu(0)))
		time.Sleep(5 * time.Second)
		p.running(t, "its memory is free", "1: GPU-0")
	})
}
