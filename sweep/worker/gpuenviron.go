package worker

import (
	"slices"
	"strings"
)

// visibleGPUs is the variable that restricts programs of CUDA to some GPUs.
const visibleGPUs = "CUDA_VISIBLE_DEVICES"

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
	return append(environ, gpus...)
}
