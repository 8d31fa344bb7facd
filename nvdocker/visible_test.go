package nvdocker_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/nvdocker"
)

func TestVisible(t *testing.T) {
	report := nvdocker.Report{Driver: "570.1", GPUs: []nvdocker.GPU{
		{UUID: "GPU-aa11-1", Index: 0},
		{UUID: "GPU-aa22-2", Index: 1},
		{UUID: "GPU-bb33-3", Index: 2, MIG: true, Instances: []nvdocker.Instance{
			{UUID: "MIG-cc44", Index: 0}, {UUID: "MIG-cd55", Index: 1}}},
	}}
	const a, b, i0, i1 = "GPU-aa11-1", "GPU-aa22-2", "MIG-cc44", "MIG-cd55"
	for _, c := range []struct {
		name, value string
		want        []string
	}{
		{"nothing", "", nil},
		{"none", "-1", nil},
		{"a word of containers", "none", nil},
		{"a number", "1", []string{b}},
		{"numbers in their order", "1,0", []string{b, a}},
		{"blanks", " 0 , 1 ", []string{a, b}},
		{"twice", "0,0", []string{a}},
		{"a number that is not there", "7", nil},
		{"what follows such a number", "0,7,1", []string{a}},
		{"what follows -1", "0,-1,1", []string{a}},
		{"a UUID", "GPU-aa22-2", []string{b}},
		{"a unique beginning", "GPU-aa2", []string{b}},
		{"a beginning of two", "GPU-aa", nil},
		{"no beginning", "GPU-", nil},
		{"another UUID", "GPU-zz", nil},
		{"UUIDs and numbers", "GPU-aa2,0", []string{b, a}},
		{"a split GPU by number", "2", []string{i0, i1}},
		{"a split GPU by UUID", "GPU-bb", []string{i0, i1}},
		{"an instance", "MIG-cd", []string{i1}},
		{"instances in their order", "MIG-cd,MIG-cc,0", []string{i1, i0, a}},
		{"an instance and its GPU", "MIG-cd,2", []string{i1, i0}},
		{"a beginning of two instances", "MIG-c", nil},
		{"nonsense", "GPU", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			visible := report.Visible(c.value)
			for _, d := range nvdocker.Devices(visible.GPUs) {
				got = append(got, d.UUID)
			}
			if diff := cmp.Diff(c.want, got); diff != "" || visible.Driver != report.Driver {
				t.Error(diff)
			}
			if len(report.GPUs) != 3 || len(report.GPUs[2].Instances) != 2 {
				t.Errorf("it changed the report: %+v", report)
			}
		})
	}
}

// The same GPUs are meant later, whatever happens to others.
func TestPin(t *testing.T) {
	gpu := func(uuid string, index int) nvdocker.GPU { return nvdocker.GPU{UUID: uuid, Index: index} }
	split := func(index int, instances ...string) nvdocker.GPU {
		g := nvdocker.GPU{UUID: "GPU-5", Index: index, MIG: true}
		for i, uuid := range instances {
			g.Instances = append(g.Instances, nvdocker.Instance{UUID: uuid, Index: i})
		}
		return g
	}
	all := nvdocker.Report{GPUs: []nvdocker.GPU{gpu("GPU-1", 0), gpu("GPU-2", 1), gpu("GPU-3", 2),
		split(3, "MIG-a", "MIG-b")}}
	renumbered := nvdocker.Report{GPUs: []nvdocker.GPU{gpu("GPU-1", 0), gpu("GPU-3", 1),
		split(2, "MIG-c", "MIG-b"), {UUID: "GPU-2", Index: nvdocker.Unknown, Lost: "GPU is lost"}}}
	for _, c := range []struct {
		value string
		want  []string // UUIDs
		later []string // of those what can be used when GPU-2 is lost
	}{
		{"0,1,2", []string{"GPU-1", "GPU-2", "GPU-3"}, []string{"GPU-1", "GPU-3"}},
		{"2, 0", []string{"GPU-3", "GPU-1"}, []string{"GPU-3", "GPU-1"}},
		{"0,1", []string{"GPU-1", "GPU-2"}, []string{"GPU-1"}},
		{"1", []string{"GPU-2"}, nil},
		{"0,7,1", []string{"GPU-1"}, []string{"GPU-1"}},
		{"3", []string{"GPU-5"}, []string{"MIG-c", "MIG-b"}},
		{"MIG-b,MIG-a", []string{"MIG-b", "MIG-a"}, []string{"MIG-b"}},
		{"", nil, nil},
	} {
		pinned := all.Pin(c.value)
		if diff := cmp.Diff(c.want, pinned); diff != "" {
			t.Errorf("%q: %s", c.value, diff)
		}
		var later []string
		for _, d := range nvdocker.Devices(renumbered.Only(pinned).GPUs) {
			later = append(later, d.UUID)
		}
		if diff := cmp.Diff(c.later, later); diff != "" {
			t.Errorf("%q, when one is lost: %s", c.value, diff)
		}
	}
}

// A GPU that is lost has no number any more: why it is lost is still told.
func TestVisibleKeepsLostGPUs(t *testing.T) {
	r := nvdocker.Report{GPUs: []nvdocker.GPU{{UUID: "GPU-1", Index: 1},
		{UUID: "GPU-0", Index: nvdocker.Unknown, Lost: "GPU is lost"}}}
	for value, want := range map[string]int{"0": 1, "1": 2} {
		if got := r.Visible(value); len(got.GPUs) != want || got.GPUs[want-1].Lost == "" {
			t.Errorf("%s: %+v", value, got)
		}
	}
}

func TestInstalled(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if nvdocker.Installed() {
		t.Skip("NOT TESTED: this machine has an nvidia-smi where the script looks for it")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "nvidia-smi"), []byte("#!/bin/sh\n"),
		0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	if !nvdocker.Installed() {
		t.Error("nvidia-smi is on PATH")
	}
}
