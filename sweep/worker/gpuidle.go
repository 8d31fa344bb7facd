package worker

import (
	"slices"
	"time"

	"mlframework/nvdocker"
	"mlframework/sweep/task"
)

// gpusIdle is why an attempt ends whose GPUs are idle.
type gpusIdle struct{ task.Idle }

func (i gpusIdle) Error() string { return "idle: GPU use " + i.Idle.String() }

// stopIdle stops attempts whose GPUs have been idle for as long as their definition allows. The
// caller holds the lock.
func (s *scheduler) stopIdle(now time.Time) {
	for k, r := range s.running {
		switch {
		case r.idle.For == 0 || r.started == nil:
		case !s.gpus.usedBelow(k, r.idle.Below):
			r.idleSince = time.Time{}
		case r.idleSince.IsZero():
			r.idleSince = now
		case now.Sub(r.idleSince) >= r.idle.For:
			r.cancel(gpusIdle{r.idle})
		}
	}
}

// usedBelow reports whether every device of an attempt was used for less than some percent of the
// time when it was last looked at. A device whose use is not known may be in use.
func (p *gpuPool) usedBelow(k key, percent int) bool {
	devices := p.given[k].Devices
	return len(devices) > 0 && !slices.ContainsFunc(devices, func(d nvdocker.Device) bool {
		i := indexDevice(p.devices, d.UUID)
		return i < 0 || p.devices[i].utilization == nvdocker.Unknown ||
			p.devices[i].utilization >= percent
	})
}
