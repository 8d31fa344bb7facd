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

// NeedOf is what an attempt needs.
type NeedOf struct {
	Attempt int64
	nvdocker.Need
}

// Start starts the attempts that can start, in their order, and returns what each of them gets;
// stale is that of the round.
func (p *GPUPool) Start(now time.Time, waiting ...NeedOf) (started map[int64][]string,
	stale bool) {
	started = map[int64][]string{}
	round := gpuRound{pool: &p.gpuPool, now: now}
	for _, w := range waiting {
		if a, ok := round.assign(w.Need); ok {
			p.take(key{index: w.Attempt}, a)
			started[w.Attempt] = a.UUIDs()
		}
	}
	return started, round.stale
}

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

// Lacks is lacks.
func (p *GPUPool) Lacks(need nvdocker.Need, now time.Time) bool { return p.lacks(need, now) }

// Describe is describe.
func (p *GPUPool) Describe() []task.GPU { return p.describe() }
