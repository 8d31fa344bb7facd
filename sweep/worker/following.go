package worker

import (
	"maps"
	"sync/atomic"
)

// following is the set of sweeps whose live output somebody wants. Asking costs one load while nobody follows any. The
// zero value is empty; set is for one goroutine.
type following struct {
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
	if sweep == "" {
		if !on {
			f.sweeps.Store(nil)
		}
		return
	}
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
