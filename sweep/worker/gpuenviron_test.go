package worker_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/task"
	"mlframework/sweep/worker"
)

func TestVisibleGPUsOfAnAttempt(t *testing.T) {
	t.Parallel()
	c := &cards{report: gpus(gpu(0), gpu(1), gpu(2))}
	const cuda, nvidia, order, ids = "CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES",
		"CUDA_DEVICE_ORDER", "GPU_UUIDS"
	type vars = map[string]string
	has := func(numbers, uuids string) vars {
		return vars{cuda: numbers, nvidia: numbers, order: "PCI_BUS_ID", ids: uuids}
	}
	none := vars{cuda: "", nvidia: "void", ids: ""}
	for _, x := range []struct {
		name    string
		hide    bool
		uuids   string // of the GPUs that it was given
		inherit []string
		env     map[string]string
		secret  bool
		want    vars
	}{
		{"one", true, "GPU-0", nil, nil, false, has("0", "GPU-0")},
		{"two", false, "GPU-0 GPU-1", nil, nil, false, has("0,1", "GPU-0,GPU-1")},
		{"what is defined does not count", true, "GPU-0", []string{nvidia + "=all"},
			vars{cuda: "2", order: "FASTEST_FIRST"}, false, has("0", "GPU-0")},
		{"nor a secret", true, "GPU-1", []string{cuda + "=1,0"}, nil, true, has("1", "GPU-1")},
		{"what the worker sees", false, "GPU-2", []string{cuda + "=2"}, nil, false,
			has("2", "GPU-2")},
		{"none on a host without GPUs", true, "", nil, nil, false, none},
		{"none on a host", true, "", []string{nvidia + "=all"}, vars{cuda: "0"}, false, none},
		{"none, locally", false, "", []string{nvidia + "=all"}, nil, false, vars{nvidia: "all"}},
		{"inherited, locally", false, "", []string{cuda + "=1"}, vars{order: "PCI_BUS_ID"}, false,
			vars{cuda: "1", order: "PCI_BUS_ID"}},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			got, twice := environment(t, func(b *task.Batch) {
				r := &b.Recipe
				r.Env, b.Attempts[0].Share = x.env, 1
				for _, uuid := range strings.Fields(x.uuids) {
					b.Attempts[0].Devices = append(b.Attempts[0].Devices,
						task.Device{UUID: uuid})
				}
				if x.secret {
					r.Secrets = []string{cuda}
				}
			}, inherit(x.inherit...), ownSecrets, func(o *worker.Options) {
				o.GPUs, o.HideGPUs = c.look, x.hide
			})
			seen := vars{}
			for _, name := range []string{cuda, nvidia, order, ids} {
				if value, set := got[name]; set {
					seen[name] = value
				}
			}
			if diff := cmp.Diff(x.want, seen); diff != "" || twice != nil {
				t.Error(diff, twice)
			}
		})
	}
}
