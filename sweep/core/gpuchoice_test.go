package core_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"mlframework/nvdocker"
	"mlframework/sweep/core"
	"mlframework/sweep/task"
)

// partOf returns which part of a device that meets a need a task takes.
func partOf(g task.GPUs, d nvdocker.Device) float64 {
	if n := nvdocker.Need(g); n.Share {
		return 1 / float64(n.Sharers(d))
	}
	return min(1, g.Count)
}

// assigned returns the devices that a task gets: of those with enough left the fullest, and of two
// that are as full the one with less memory. It returns nil if the task waits.
func assigned(devices []nvdocker.Device, used map[string]float64,
	need task.GPUs) (given []nvdocker.Device) {
	for _, i := range nvdocker.Need(need).Matching(devices) {
		if d := devices[i]; used[d.UUID]+partOf(need, d) <= 1+1e-9 {
			given = append(given, d)
		}
	}
	slices.SortStableFunc(given, func(a, b nvdocker.Device) int {
		return cmp.Or(cmp.Compare(used[b.UUID], used[a.UUID]),
			cmp.Compare(a.Memory, b.Memory))
	})
	if count := int(max(1, need.Count)); len(given) >= count {
		return given[:count]
	}
	return nil
}

// A task gets the devices that a plain search of all finds.
func TestWhichGPUsATaskGets(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		var gpus []task.GPU
		var devices []nvdocker.Device
		for i := range r.IntN(6) {
			g := task.GPU{UUID: fmt.Sprint(i), Name: []string{"A100", "T4"}[r.IntN(2)],
				Memory: []int64{16 * gib, 40 * gib, 80 * gib}[r.IntN(3)], Split: r.IntN(5) == 0}
			gpus = append(gpus, g)
			devices = append(devices, nvdocker.Device{UUID: g.UUID, Name: g.Name,
				Memory: g.Memory, Split: g.Split})
		}
		var needs []task.GPUs
		for range 8 {
			needs = append(needs, task.GPUs{
				Count:  []float64{1, 2, 3, 0.5, 1.0 / 3, 0.25, 1.0 / 7}[r.IntN(7)],
				Memory: []int64{0, 0, 40 * gib}[r.IntN(3)],
				Name:   []string{"", "", "a100"}[r.IntN(3)]})
		}
		free, begun := core.ChooseGPUs(gpus, needs)
		used := map[string]float64{}
		for i, need := range needs {
			given := assigned(devices, used, need)
			if (given != nil) != (i < begun) {
				t.Fatalf("%+v: %d of %+v begin; the next gets %v", gpus, begun, needs, given)
			}
			if given == nil {
				break
			}
			for _, d := range given {
				used[d.UUID] += partOf(need, d)
			}
			for n, g := range gpus {
				if math.Abs(1-used[g.UUID]-free[i][n]) > 1e-9 {
					t.Fatalf("%+v, after %+v: %v is free, and %v is used", gpus, needs[:i+1],
						free[i], used)
				}
			}
		}
	}
}
