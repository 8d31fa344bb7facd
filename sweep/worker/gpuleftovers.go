package worker

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"mlframework/nvdocker"
	"mlframework/sweep/task"
	"mlframework/sweep/worker/process"
)

// A process that waits in the driver does not end with SIGKILL. It may hold /dev/nvidia* without
// any memory, so that nothing else tells that the GPU is in use.

// keepGPUs keeps the GPUs of an attempt that has ended for as long as one of these processes of it
// is alive.
func (s *scheduler) keepGPUs(k key, pids []int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.gpus.given[k].Devices) == 0 {
		return
	}
	for _, pid := range pids {
		if name := process.IdentityOf(pid); name != "" {
			s.gpus.unkillable[k] = append(s.gpus.unkillable[k], name)
		}
	}
}

// releaseKeptGPUs takes back the GPUs of attempts whose last process has ended. The caller holds
// the lock.
func (s *scheduler) releaseKeptGPUs() {
	for k, names := range s.gpus.unkillable {
		names = slices.DeleteFunc(names, func(name string) bool { return !process.Alive(name) })
		if s.gpus.unkillable[k] = names; len(names) == 0 && s.running[k] == nil {
			delete(s.gpus.unkillable, k)
			s.releaseGPUs(k)
		}
	}
}

// leftOn describes, in a message for people, the process that still uses a device after its attempt
// has ended; "" if there is none.
func (p *gpuPool) leftOn(uuid string) (who string) {
	for k, names := range p.unkillable {
		if len(names) == 0 || !slices.ContainsFunc(p.given[k].Devices,
			func(d nvdocker.Device) bool { return d.UUID == uuid }) {
			continue
		}
		pid, _, _ := strings.Cut(names[0], "/")
		text := fmt.Sprintf("busy: pid %s of %s does not end", pid,
			task.ID{Sweep: k.sweep, Index: k.index})
		who = min(cmp.Or(who, text), text) // the same one at each look
	}
	return who
}
