package monitor

import (
	"fmt"
	"sync"
	"time"

	"mlframework/sweep/core"
	"mlframework/sweep/task"
)

// A rate is what ended between two looks, the older at most throughputWindow ago; below
// minThroughputWindow it says nothing yet.
const (
	throughputWindow    = 2 * time.Minute
	minThroughputWindow = 5 * time.Second
	sampleInterval      = 2 * time.Second // between two samples that are kept
)

// throughput remembers how many tasks of each sweep had ended, as often as somebody looked: the API
// tells how sweeps stand, and not how fast they go. The zero value is ready.
type throughput struct {
	mu  sync.Mutex
	all map[string][]sample
}

type sample struct {
	at    time.Time
	ended int64
}

// ended counts the tasks of a sweep that only a person's retry could run again.
func ended(s core.Summary) (n int64) {
	for _, state := range task.States {
		if state.Terminal() {
			n += s.Counts[state.String()]
		}
	}
	return n
}

// observe notes how all sweeps stood.
func (p *throughput) observe(at time.Time, all []core.Summary) {
	p.mu.Lock()
	defer p.mu.Unlock()
	before := p.all
	p.all = map[string][]sample{}
	for _, s := range all {
		if s.State == core.Open {
			p.all[s.ID] = add(before[s.ID], sample{at, ended(s)})
		}
	}
}

func add(samples []sample, s sample) []sample {
	n := len(samples)
	switch {
	case n > 0 && s.ended < samples[n-1].ended: // a retry
		return []sample{s}
	case n > 1 && s.at.Sub(samples[n-2].at) < sampleInterval:
		samples[n-1] = s
	default:
		samples = append(samples, s)
	}
	for len(samples) > 2 && s.at.Sub(samples[0].at) > throughputWindow {
		samples = samples[1:]
	}
	return samples
}

// perSecond returns how many tasks of a sweep end in a second; 0: not known, or none.
func (p *throughput) perSecond(id string) float64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	samples := p.all[id]
	if len(samples) < 2 {
		return 0
	}
	first, last := samples[0], samples[len(samples)-1]
	span := last.at.Sub(first.at)
	if span < minThroughputWindow {
		return 0
	}
	return float64(last.ended-first.ended) / span.Seconds()
}

// rateText returns a rate as people read it.
func rateText(perSecond float64) string {
	switch {
	case perSecond <= 0:
		return ""
	case perSecond >= 10:
		return fmt.Sprintf("%.0f/s", perSecond)
	case perSecond >= 0.5:
		return fmt.Sprintf("%.1f/s", perSecond)
	case perSecond*60 >= 0.5:
		return fmt.Sprintf("%.1f/min", perSecond*60)
	}
	return fmt.Sprintf("%.1f/h", perSecond*3600)
}
