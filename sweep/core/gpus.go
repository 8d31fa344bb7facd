package core

import (
	"slices"

	"mlframework/nvdocker"
	"mlframework/sweep/task"
)

// hostGPUs are the GPUs of its host that a worker may use, as its newest heartbeat has them. The zero
// value is none.
type hostGPUs struct {
	devices []nvdocker.Device
	usable  []int                  // of each what attempts may have, in gpuUnits: all or nothing
	byNeed  map[task.GPUs]*metNeed // as they are asked for
}

// metNeed is how the devices of a host meet a need.
type metNeed struct {
	devices []int  // those that it can be met with
	never   string // what the host has, if it can never give what is needed; else ""
}

func deviceOf(g *task.GPU) nvdocker.Device {
	d := nvdocker.Device{UUID: g.UUID, Name: g.Name, Memory: g.Memory, Number: g.Index,
		Split: g.Split}
	if d.Memory <= 0 {
		d.Memory = nvdocker.Unknown
	}
	return d
}

// update takes over the GPUs of a heartbeat.
func (g *hostGPUs) update(all []task.GPU) {
	if len(all)+len(g.devices) == 0 {
		return
	}
	if !slices.EqualFunc(g.devices, all,
		func(d nvdocker.Device, g task.GPU) bool { return d == deviceOf(&g) }) {
		*g = hostGPUs{usable: make([]int, len(all))}
		for i := range all {
			g.devices = append(g.devices, deviceOf(&all[i]))
		}
	}
	for i := range all {
		if g.usable[i] = 0; all[i].Unavailable == "" {
			g.usable[i] = gpuUnits
		}
	}
}

// index finds a device; -1: the host has it no more.
func (g *hostGPUs) index(uuid string) int {
	return slices.IndexFunc(g.devices, func(d nvdocker.Device) bool { return d.UUID == uuid })
}

// meeting returns the devices that a need can be met with, whoever has them.
func (g *hostGPUs) meeting(need task.GPUs) []int {
	if len(g.devices) == 0 || need.Count == 0 {
		return nil
	}
	return g.meet(need).devices
}

// meet returns how the devices meet a need. It is asked at every placement, and by every sweep that
// waits each second.
func (g *hostGPUs) meet(need task.GPUs) *metNeed {
	if is := g.byNeed[need]; is != nil {
		return is
	}
	if g.byNeed == nil || len(g.byNeed) == maxNeeds {
		g.byNeed = map[task.GPUs]*metNeed{}
	}
	is := &metNeed{devices: needOf(need).Matching(g.devices), never: neverMeets(g.devices, need)}
	g.byNeed[need] = is
	return is
}

// maxNeeds bounds the needs of which is kept how the devices of a host meet them.
const maxNeeds = 64

// Devices returns GPUs of a worker as nvdocker has them.
func Devices(gpus []task.GPU) (all []nvdocker.Device) {
	for i := range gpus {
		all = append(all, deviceOf(&gpus[i]))
	}
	return all
}
