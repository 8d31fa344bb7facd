package worker

import "mlframework/nvdocker"

// DescribeGPUChanges describes changes of GPUs: pairs of a number and why attempts do not get it.
func DescribeGPUChanges(changes [][2]string) (lost, available string) {
	var all []gpuChange
	for _, c := range changes {
		all = append(all, gpuChange{nvdocker.Device{Number: c[0]}, c[1]})
	}
	return describeGPUChanges(all)
}
