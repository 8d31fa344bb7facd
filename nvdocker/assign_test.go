package nvdocker

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// devices makes some with so many GB.
func devices(gigabytes ...int64) (all []Device) {
	for i, n := range gigabytes {
		all = append(all, Device{UUID: fmt.Sprintf("GPU-%d", i), Name: "L4", Memory: n << 30,
			Number: fmt.Sprint(i)})
	}
	return all
}

func TestAssign(t *testing.T) {
	split := []Device{{UUID: "MIG-a", Name: "A100", Memory: 10 << 30, Number: "0:0", Split: true},
		{UUID: "MIG-b", Name: "A100", Memory: 20 << 30, Number: "0:1", Split: true}}
	rtx4090 := []Device{{UUID: "GPU-0", Name: "RTX 4090", Memory: 24564 << 20, Number: "0"}}
	for _, c := range []struct {
		name    string
		devices []Device
		used    map[string]float64
		need    Need
		want    []string
		err     string
	}{
		{"none", devices(24), nil, Need{}, []string{}, ""},
		{"one", devices(24, 24), nil, Need{Count: 1}, []string{"GPU-0"}, ""},
		{"the next", devices(24, 24), map[string]float64{"GPU-0": 1}, Need{Count: 1},
			[]string{"GPU-1"}, ""},
		{"the smallest that fits", devices(80, 24), nil, Need{Count: 1, Memory: 12 << 30},
			[]string{"GPU-1"}, ""},
		{"two", devices(24, 24, 24), map[string]float64{"GPU-1": 0.5}, Need{Count: 2},
			[]string{"GPU-0", "GPU-2"}, ""},
		{"a part where others are", devices(24, 24), map[string]float64{"GPU-1": 0.5},
			Need{Count: 0.5}, []string{"GPU-1"}, ""},
		{"a part, full", devices(24, 24), map[string]float64{"GPU-1": 0.75}, Need{Count: 0.5},
			[]string{"GPU-0"}, ""},
		{"three thirds", devices(24), map[string]float64{"GPU-0": 1.0/3 + 1.0/3},
			Need{Count: 1.0 / 3}, []string{"GPU-0"}, ""},
		{"busy", devices(24), map[string]float64{"GPU-0": 0.1}, Need{Count: 1}, nil,
			"others have them now"},
		{"no GPU", nil, nil, Need{Count: 1}, nil,
			"this host can never give that: 1 GPU is asked for, and it has no GPU"},
		{"too few", devices(24, 24), nil, Need{Count: 3}, nil,
			"this host can never give that: 3 GPUs are asked for, and it has 2 x L4 with 24.0 GB"},
		{"too small", devices(24), nil, Need{Count: 1, Memory: 40 << 30}, nil, "this host can " +
			"never give that: 1 GPU with 40.0 GB is asked for, and it has 1 x L4 with 24.0 GB"},
		{"half of none", nil, nil, Need{Count: 0.5}, nil,
			"this host can never give that: 0.5 of a GPU is asked for, and it has no GPU"},
		{"24 GB of an RTX 4090", rtx4090, nil, Need{Count: 1, Memory: 24 << 30}, []string{"GPU-0"},
			""},
		{"26 GB of an RTX 4090", rtx4090, nil, Need{Count: 1, Memory: 26 << 30}, nil,
			"this host can never give that: 1 GPU with 26.0 GB is asked for, and it has 1 x RTX " +
				"4090 with 24.0 GB"},
		{"an instance", split, map[string]float64{"MIG-a": 1}, Need{Count: 1}, []string{"MIG-b"},
			""},
		{"two instances", split, nil, Need{Count: 2}, nil, "this host can never give that: 2 " +
			"GPUs are asked for, and it has 1 x instance of A100 with 10.0 GB, 1 x instance of " +
			"A100 with 20.0 GB (a program uses one instance at a time)"},
		{"one and a half", devices(24, 24), nil, Need{Count: 1.5}, nil,
			"this host can never give that: 1.5 GPUs are neither a whole number nor a part of one"},
		{"fewer than none", devices(24), nil, Need{Count: -1}, nil,
			"this host can never give that: -1 GPUs are neither a whole number nor a part of one"},
	} {
		a, err := Assign(c.devices, c.used, c.need)
		if text := fmt.Sprint(err); c.err == "" && err != nil || c.err != "" && text != c.err {
			t.Errorf("%s: %v", c.name, err)
		} else if err == nil && !slices.Equal(a.UUIDs(), c.want) {
			t.Errorf("%s: %q", c.name, a.UUIDs())
		}
	}
}

// Whoever comes and goes: no GPU is ever given out beyond itself, and a part that fits anywhere is
// not refused.
func TestAssignNeverGivesTwice(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		all := devices(make([]int64, 1+r.IntN(6))...)
		used, held := map[string]float64{}, []Assignment(nil)
		for range 50 {
			if len(held) > 0 && r.IntN(3) == 0 {
				i := r.IntN(len(held))
				for _, u := range held[i].UUIDs() {
					used[u] -= held[i].Share
				}
				held = slices.Delete(held, i, i+1)
				continue
			}
			need := Need{Count: []float64{0.1, 0.25, 1.0 / 3, 0.5, 1, 2, 3}[r.IntN(7)]}
			a, err := Assign(all, used, need)
			room := 0
			for _, d := range all {
				if used[d.UUID]+min(1, need.Count) <= 1+tolerance {
					room++
				}
			}
			if fits := room >= max(1, int(need.Count)); fits != (err == nil) || err != nil &&
				!errors.Is(err, ErrBusy) && !errors.Is(err, ErrNever) {
				t.Fatalf("%v of %d, room for %d: %v", need.Count, len(all), room, err)
			}
			for _, u := range a.UUIDs() {
				if used[u] += a.Share; used[u] > 1+2*tolerance {
					t.Fatalf("%s has %v", u, used[u])
				}
			}
			if err == nil {
				held = append(held, a)
			}
		}
	}
}

func TestAsked(t *testing.T) {
	one := Assignment{Devices: devices(24, 24), Share: 1}
	split := Assignment{Devices: []Device{{UUID: "MIG-a", Number: "0:1", Split: true}}, Share: 1}
	const order = "CUDA_DEVICE_ORDER=PCI_BUS_ID"
	for _, c := range []struct {
		a    Assignment
		want []string
	}{
		{one, []string{order, "CUDA_VISIBLE_DEVICES=0,1", "NVIDIA_VISIBLE_DEVICES=0,1",
			"GPU_UUIDS=GPU-0,GPU-1"}},
		{split, []string{order, "CUDA_VISIBLE_DEVICES=MIG-a", "NVIDIA_VISIBLE_DEVICES=MIG-a",
			"GPU_UUIDS=MIG-a"}},
		{Assignment{}, []string{"CUDA_VISIBLE_DEVICES=", "NVIDIA_VISIBLE_DEVICES=void",
			"GPU_UUIDS="}},
	} {
		if d := cmp.Diff(c.want, c.a.Environment()); d != "" {
			t.Error(d)
		}
	}
	if d := cmp.Diff(&Request{Driver: "nvidia", DeviceIDs: []string{"GPU-0", "GPU-1"},
		Capabilities: [][]string{{"gpu", "compute", "utility"}}}, one.Request()); d != "" {
		t.Error(d)
	}
	if (Assignment{}).Request() != nil {
		t.Error("nothing is asked for something")
	}
	for _, c := range []struct {
		a      Assignment
		listed []string
		want   []string
	}{
		{one, nil, []string{"nvidia.com/gpu=GPU-0", "nvidia.com/gpu=GPU-1"}},
		{one, []string{"nvidia.com/gpu=0", "nvidia.com/gpu=1", "nvidia.com/gpu=all"},
			[]string{"nvidia.com/gpu=0", "nvidia.com/gpu=1"}},
		{one, []string{"nvidia.com/gpu=0", "nvidia.com/gpu=GPU-0", "nvidia.com/gpu=1"},
			[]string{"nvidia.com/gpu=GPU-0", "nvidia.com/gpu=1"}},
		{split, []string{"nvidia.com/gpu=0:1"}, []string{"nvidia.com/gpu=0:1"}},
		{split, []string{"nvidia.com/gpu=0"}, nil},
	} {
		r, ok := c.a.CDI(c.listed)
		if ok != (c.want != nil) || ok && !slices.Equal(r.DeviceIDs, c.want) {
			t.Errorf("%q: %+v, %v", c.listed, r, ok)
		}
	}
}

// A name that is a regular expression is one here, too.
func TestNamesAsTheyAreWritten(t *testing.T) {
	for name, want := range map[string]bool{`\QT4`: true, "t4": true, "a100|t4": true,
		"^nvidia t4$": true, "(?-i:t4)": false, "h100|a100": false, "(": false} {
		d := Device{Name: "NVIDIA T4"}
		if got := (Need{Count: 1, Name: name}).Matches(d); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
