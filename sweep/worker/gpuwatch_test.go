package worker_test

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"mlframework/nvdocker"
	"mlframework/sweep/task"
	"mlframework/sweep/worker"
)

func TestFirstHeartbeatListsTheGPUs(t *testing.T) {
	onCards(t, gpus(gpu(0, busy), gpu(1, split)),
		func(t *testing.T, s *site, _ *cards, _ *programs) {
			synctest.Wait()
			events := s.all()
			joined := events[len(events)-1]
			want := []task.GPU{
				{UUID: "GPU-0", Index: "0", Name: "NVIDIA L4", Memory: 24 * gib, Used: 6 * gib,
					Unavailable: "busy: ben, python (pid 411), 6.0 GB"},
				{UUID: "MIG-1-0", Index: "1:0", Name: "NVIDIA L4", Memory: 10 * gib, Split: true,
					Used: nvdocker.Unknown, Utilization: nvdocker.Unknown},
				{UUID: "MIG-1-1", Index: "1:1", Name: "NVIDIA L4", Memory: 10 * gib, Split: true,
					Used: nvdocker.Unknown, Utilization: nvdocker.Unknown}}
			if joined.Kind != task.JoinedEvent {
				t.Fatal(joined)
			}
			if diff := cmp.Diff(want, joined.Heartbeat.GPUs); diff != "" {
				t.Error(diff)
			}
		})
}

// A driver that hangs keeps neither programs that need no GPU nor the end.
func TestNothingWaitsForADriver(t *testing.T) {
	onCards(t, nvdocker.Report{}, func(t *testing.T, s *site, c *cards, p *programs) {
		c.mu.Lock()
		c.hangs = true
		c.mu.Unlock()
		s.stop()
		time.Sleep(time.Second)
		begin := time.Now()
		s.start(s.queue.Worker("w1"))
		s.send(batch("", 0), using(1, "GPU-0", 1))
		p.running(t, "while the driver hangs", "0: !")
		time.Sleep(3 * time.Minute)
		s.ended(0, 1)
		last := kinds(s.soFar())
		if slices.Contains(last, "returned 1/1") {
			t.Error("it is not known whether there are GPUs")
		}
		ending := time.Now()
		s.stop()
		if took := time.Since(ending); took > 0 {
			t.Errorf("the end takes %v", took)
		}
		if n := len(c.since(begin)); n != 1 {
			t.Errorf("%d looks at a time", n)
		}
	}, local)
}

func TestHowOftenGPUsAreLookedAt(t *testing.T) {
	sick := nvdocker.Report{Fault: &nvdocker.Problem{Cause: "the driver hangs"}}
	for _, c := range []struct {
		name   string
		report nvdocker.Report
		change func(*worker.Options)
		needed bool
		then   nvdocker.Report // from the second on
		want   []int           // seconds, of the first three minutes
	}{
		{"a cluster", gpus(gpu(0)), func(*worker.Options) {}, false, gpus(gpu(0)),
			[]int{0, 5, 10, 15, 20, 25}},
		{"a cluster without GPUs", nvdocker.Report{}, func(*worker.Options) {}, false,
			nvdocker.Report{}, []int{0, 60, 120, 180}},
		{"nothing needs any", gpus(gpu(0)), local, false, gpus(gpu(0)), []int{0, 60, 120, 180}},
		{"what somebody uses may be waited for", gpus(gpu(0, busy)), local, false,
			gpus(gpu(0, busy)), []int{0, 5, 10, 15}},
		{"a need", gpus(gpu(0)), local, true, gpus(gpu(0)), []int{0, 1, 6, 11}},
		{"it hangs from the start", sick, func(*worker.Options) {}, false, sick,
			[]int{0, 10, 30, 70, 130}},
		{"it hangs while a task ends", gpus(gpu(0)), func(*worker.Options) {}, true, sick,
			[]int{0, 1, 11, 31, 71, 131}},
		{"it hangs", gpus(gpu(0)), func(*worker.Options) {}, false, sick,
			[]int{0, 5, 15, 35, 75, 135}},
	} {
		t.Run(c.name, func(t *testing.T) {
			onCards(t, c.report, func(t *testing.T, s *site, cards *cards, _ *programs) {
				begin := time.Now()
				time.Sleep(time.Second)
				cards.set(c.then)
				if c.needed {
					s.send(each(0))
				}
				time.Sleep(3*time.Minute - time.Second/2)
				s.stop()
				var got []int
				for _, at := range cards.since(begin) {
					got = append(got, int(at.Seconds()))
				}
				got = got[:min(len(got), len(c.want))]
				if diff := cmp.Diff(c.want, got); diff != "" {
					t.Error(diff)
				}
			}, c.change)
		})
	}
}

// A host whose GPUs cannot be listed when its worker starts is not taken for one without.
func TestGPUsThatCannotBeListedAtFirst(t *testing.T) {
	onCards(t, hangs, func(t *testing.T, s *site, c *cards, p *programs) {
		beats := s.queue.Heartbeats(t.Context())
		s.skip(beats)
		begin := time.Now()
		if h := <-beats; h.GPUFault != "the driver hangs" || len(h.GPUs) > 0 {
			t.Errorf("%q, %v", h.GPUFault, h.GPUs)
		}
		s.send(batch("", 0))
		p.running(t, "a task that needs no GPU", "0:")
		c.set(gpus(gpu(0)))
		var told time.Duration
		for h := range beats {
			if len(h.GPUs) > 0 {
				if told = h.Time.Sub(begin); h.GPUFault != "" {
					t.Error(h.GPUFault)
				}
				break
			}
		}
		if looks := c.since(begin); told != looks[len(looks)-1] || told > 10*time.Second {
			t.Errorf("a heartbeat lists them after %v; looks: %v", told, looks)
		}
	})
}

// Until a look has ended a worker does not say that it has no GPU.
func TestGPUsThatAreNotListedYet(t *testing.T) {
	onCards(t, nvdocker.Report{}, func(t *testing.T, s *site, c *cards, _ *programs) {
		synctest.Wait()
		events := s.all()
		if joined := events[len(events)-1]; joined.Heartbeat.GPUFault != "" {
			t.Error(joined.Heartbeat.GPUFault)
		}
		s.stop()
		c.mu.Lock()
		c.hangs = true
		c.mu.Unlock()
		s.start(s.queue.Worker("w1"))
		s.beat("GPUs are not listed yet", func(h task.Heartbeat) bool {
			return h.GPUFault == "nvidia-smi has not answered yet"
		})
	})
}

func TestErrorsOfLooks(t *testing.T) {
	onCards(t, gpus(gpu(0)), func(t *testing.T, s *site, c *cards, _ *programs) {
		synctest.Wait()
		c.mu.Lock()
		c.err, c.report = errors.New("no sh here"), nvdocker.Report{}
		c.mu.Unlock()
		s.beat("why", func(h task.Heartbeat) bool {
			return len(h.GPUs) == 1 &&
				h.GPUs[0].Unavailable == "the GPUs cannot be listed: no sh here"
		})
	})
}
