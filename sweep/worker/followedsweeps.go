package worker

import "sync"

// followedSweeps is the set of sweeps whose live output is being followed. The zero value is empty.
// It is safe for concurrent use.
type followedSweeps struct {
	mu     sync.RWMutex
	sweeps map[string]bool
}

func (f *followedSweeps) has(sweep string) bool {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.sweeps[sweep]
}

// set adds or removes a sweep; removing "" removes all.
func (f *followedSweeps) set(sweep string, on bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case on && f.sweeps == nil:
		f.sweeps = map[string]bool{sweep: true}
	case on:
		f.sweeps[sweep] = true
	case sweep == "":
		f.sweeps = nil
	default:
		delete(f.sweeps, sweep)
	}
}
