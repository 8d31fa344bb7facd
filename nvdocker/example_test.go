package nvdocker_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"

	"mlframework/nvdocker"
)

// Lets a program have one GPU of this machine that nobody uses and that is fit to work. Nothing is
// reserved: another program that does this at the same time gets the same GPU.
func Example() {
	report, err := nvdocker.Detect(context.Background(), nvdocker.AnswerTime)
	if err != nil {
		fmt.Println(err)
		return
	}
	if report.Fault != nil {
		fmt.Fprintln(os.Stderr, report.Fault) // cause and remedy
	}
	used := nvdocker.Unavailable(report.GPUs, nil, nvdocker.Idle)
	one, err := nvdocker.Assign(nvdocker.Devices(report.GPUs), used, nvdocker.Need{Count: 1})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		one = nvdocker.Assignment{} // then it sees none
	}
	train := exec.Command("echo", "training")
	train.Env = append(os.Environ(), one.Environment()...)
	train.Stdout = os.Stdout
	if err := train.Run(); err != nil {
		fmt.Println(err)
	}
	// Output: training
}

// Splits GPUs between tasks: two of half a GPU share one.
func ExampleAssign() {
	devices := []nvdocker.Device{{UUID: "GPU-a", Memory: 24 << 30},
		{UUID: "GPU-b", Memory: 24 << 30}}
	used := map[string]float64{}
	for _, count := range []float64{0.5, 1, 0.5, 1} {
		a, err := nvdocker.Assign(devices, used, nvdocker.Need{Count: count})
		for _, uuid := range a.UUIDs() {
			used[uuid] += a.Share
		}
		fmt.Println(a.UUIDs(), err)
	}
	// Output:
	// [GPU-a] <nil>
	// [GPU-b] <nil>
	// [GPU-a] <nil>
	// [] others have them now
}
