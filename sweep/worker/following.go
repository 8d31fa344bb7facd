package worker

import (
	"maps"
	"sync"
	"sync/atomic"
)

// following is the set of sweeps whose live output somebody wants. Asking costs one load while nobody follows any. The
// zero value is empty; it is safe for concurrent use.
type following struct {
	mu     sync.Mutex // of those who change it
	sweeps atomic.Pointer[map[string]struct{}]
}

func (f *following) on(sweep string) bool {
	sweeps := f.sweeps.Load()
	if sweeps == nil {
		return false
	}
	_, ok := (*sweeps)[sweep]
	return ok
}

// set adds a sweep or takes it out; without a name it takes out all.
func (f *following) set(sweep string, on bool) {
	if on && f.on(sweep) {
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
