package nvdocker

import (
	"fmt"
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

func TestNever(t *testing.T) {
	split := []Device{{UUID: "MIG-a", Name: "A100", Memory: 10 << 30, Number: "0:0", Split: true},
		{UUID: "MIG-b", Name: "A100", Memory: 20 << 30, Number: "0:1", Split: true}}
	rtx4090 := []Device{{UUID: "GPU-0", Name: "RTX 4090", Memory: 24564 << 20, Number: "0"}}
	for _, c := range []struct {
		name    string
		devices []Device
		need    Need
		has     string
	}{
		{"none", nil, Need{}, ""},
		{"one", devices(24, 24), Need{Count: 1}, ""},
		{"one that is large enough", devices(80, 24), Need{Count: 1, Memory: 40 << 30}, ""},
		{"two", devices(24, 24), Need{Count: 2}, ""},
		{"all", devices(24, 24), Need{Count: 1, All: true}, ""},
		{"no GPU", nil, Need{Count: 1}, "no GPU"},
		{"too few", devices(24, 24), Need{Count: 3}, "2 x L4 with 24.0 GB"},
		{"too small", devices(24), Need{Count: 1, Memory: 40 << 30}, "1 x L4 with 24.0 GB"},
		{"another name", devices(24), Need{Count: 1, Name: "a100"}, "1 x L4 with 24.0 GB"},
		{"half of none", nil, Need{Count: 0.5}, "no GPU"},
		{"24 GB of an RTX 4090", rtx4090, Need{Count: 1, Memory: 24 << 30}, ""},
		{"26 GB of an RTX 4090", rtx4090, Need{Count: 1, Memory: 26 << 30},
			"1 x RTX 4090 with 24.0 GB"},
		{"an instance", split, Need{Count: 1}, ""},
		{"two instances", split, Need{Count: 2}, "1 x instance of A100 with 10.0 GB, 1 x " +
			"instance of A100 with 20.0 GB (a program uses one instance at a time)"},
	} {
		if has := c.need.Never(c.devices); has != c.has {
			t.Errorf("%s: %q; want %q", c.name, has, c.has)
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
