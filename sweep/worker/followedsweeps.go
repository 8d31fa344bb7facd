package worker

import (
	"maps"
	"sync"
	"sync/atomic"
)

// followedSweeps is the set of sweeps whose live output is being followed. A lookup costs one
// atomic load while the set is empty. The zero value is empty. It is safe for concurrent use.
type followedSweeps struct {
	// serializes writers
	mu     sync.Mutex
	sweeps atomic.Pointer[map[string]struct{}]
}

func (f *followedSweeps) has(sweep string) bool {
	sweeps := f.sweeps.Load()
	if sweeps == nil {
		return false
	}
	_, ok := (*sweeps)[sweep]
	return ok
}

// set adds or removes a sweep; removing "" removes all.
func (f *followedSweeps) set(sweep string, on bool) {
	if on && f.has(sweep) {
		return
	}
	if sweep == "" {
		if !on {
			f.sweeps.Store(nil)
		}
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	sweeps := map[string]struct{}{}
	if before := f.sweeps.Load(); before != nil {
		maps.Copy(sweeps, *before)
	}
	if on {
		sweeps[sweep] = struct{}{}
	} else {
		delete(sweeps, sweep)
	}
	if len(sweeps) == 0 {
		f.sweeps.Store(nil)
		return
	}
	f.sweeps.Store(&sweeps)
}
