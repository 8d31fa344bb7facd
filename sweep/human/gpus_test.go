package human_test

import (
	"testing"

	"mlframework/sweep/human"
)

func TestGPU(t *testing.T) {
	t.Parallel()
	for uuid, want := range map[string]string{
		"": "", "GPU-5b3c2a1f-1111-2222": "GPU-5b3c2a1f", "GPU-5b3c2a1f": "GPU-5b3c2a1f",
		"MIG-5b3c2a1f-1111": "MIG-5b3c2a1f",
		// before driver 470 the parts of a GPU are told apart by what stands last
		"MIG-GPU-5b3c2a1f-1111/7/0": "MIG-GPU-5b3c2a1f-1111/7/0",
		"0":                         "0", "a\x1b-b": `a\x1b-b`, "GPU-\x1b-b": `GPU-\x1b`,
	} {
		if got := human.GPU(uuid); got != want {
			t.Errorf("%q: %q, want %q", uuid, got, want)
		}
	}
}

func TestShare(t *testing.T) {
	t.Parallel()
	third := 1. / 3
	for share, want := range map[float64]string{0: "0", 1: "1", 0.5: "0.5", third: "0.33",
		1 + third: "1.33", third + third + third: "1", 64: "64", 1. / 16: "0.06"} {
		if got := human.Share(share); got != want {
			t.Errorf("%v: %q, want %q", share, got, want)
		}
	}
}
