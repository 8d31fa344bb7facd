package worker

import (
	"time"

	"mlframework/nvdocker"
	"mlframework/sweep/task"
)

// GPUPool decides which GPUs attempts get. Attempts are numbers.
type GPUPool struct{ gpuPool }

// NewGPUPool returns one that knows of no GPU yet.
func NewGPUPool() *GPUPool {
	p := &GPUPool{gpuPool{idle: nvdocker.Idle}}
	p.init()
	return p
}

// BeginLook is beginLook.
func (p *GPUPool) BeginLook() int { return p.beginLook() }

// Update is update; it returns the UUIDs of devices that changed, with the reason.
func (p *GPUPool) Update(r nvdocker.Report, look int, now time.Time) map[string]string {
	changes := map[string]string{}
	for _, c := range p.update(r, look, now) {
		changes[c.device.UUID] = c.reason
	}
	return changes
}

// On is an attempt with its devices.
type On struct {
	Attempt int64
	UUIDs   []string
	Share   float64
}

func (o On) attempt() (a task.Attempt) {
	a.Share = o.Share
	for _, uuid := range o.UUIDs {
		a.Devices = append(a.Devices, task.Device{UUID: uuid})
	}
	return a
}

// Start starts the attempts that can start, in their order, and returns which; stale says that one
// could but for a look that is too old.
func (p *GPUPool) Start(now time.Time, waiting ...On) (started []int64, stale bool) {
	for _, w := range waiting {
		a, ok, old := p.ready(w.attempt(), now)
		if stale = stale || old; ok {
			p.take(key{index: w.Attempt}, a)
			started = append(started, w.Attempt)
		}
	}
	return started, stale
}

// Lost is lost.
func (p *GPUPool) Lost(o On, now time.Time) bool { return p.lost(o.attempt(), now) }

// Unshared is unshared, for all devices with these UUIDs.
func (p *GPUPool) Unshared(uuids ...string) []string {
	a := nvdocker.Assignment{Share: 1}
	for _, uuid := range uuids {
		a.Devices = append(a.Devices, nvdocker.Device{UUID: uuid})
	}
	return p.unshared(a)
}

// Deny is deny.
func (p *GPUPool) Deny(uuid string) { p.deny(uuid) }

// SetHolders sets who has the locks of devices, by UUID.
func (p *GPUPool) SetHolders(holders map[string]string) { p.holders = holders }

// Release is release.
func (p *GPUPool) Release(attempt int64) bool { return p.release(key{index: attempt}) }

// Describe is describe.
func (p *GPUPool) Describe() []task.GPU { return p.describe() }
