package worker

import (
	"slices"
	"strings"
)

const (
	// visibleGPUs is the variable that restricts programs of CUDA to some GPUs.
	visibleGPUs = "CUDA_VISIBLE_DEVICES"
	// deviceOrder is the variable for the order in which CUDA numbers GPUs. By itself it takes the
	// fastest first, which programs that read nvidia-smi do not expect.
	deviceOrder = "CUDA_DEVICE_ORDER"
)

// lookupVariable returns the value of a variable, of which the last in a list counts.
func lookupVariable(environ []string, name string) (value string, set bool) {
	for _, v := range slices.Backward(environ) {
		if have, value, is := strings.Cut(v, "="); is && have == name {
			return value, true
		}
	}
	return "", false
}

// gpuEnviron returns the variables that show an attempt its GPUs, and no others. The result is nil
// if it sees what the worker sees.
func (w *Worker) gpuEnviron(i item) []string {
	if len(i.gpus.Devices) == 0 && !w.o.HideGPUs {
		return nil
	}
	environ := i.gpus.Environment()
	if len(i.gpus.Devices) > 0 {
		environ = append(environ, gpuLockVariable+"=")
	}
	return environ
}

// withGPUs returns an environment with the variables of gpuEnviron, which nothing else overrides.
func withGPUs(environ, gpus []string) []string {
	if len(gpus) == 0 {
		return environ
	}
	environ = slices.DeleteFunc(environ, func(v string) bool {
		return slices.ContainsFunc(gpus, func(g string) bool { return nameOf(g) == nameOf(v) })
	})
	environ = append(environ, gpus...)
	if value, _ := lookupVariable(gpus, visibleGPUs); value != "" {
		if _, set := lookupVariable(environ, deviceOrder); !set {
			environ = append(environ, deviceOrder+"=PCI_BUS_ID")
		}
	}
	return environ
}
