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
	var one nvdocker.Assignment // without devices the program sees none
	for _, g := range report.GPUs {
		reason, _ := g.Unavailable(nvdocker.Idle)
		if devices := nvdocker.Devices([]nvdocker.GPU{g}); reason == "" && len(devices) > 0 {
			one = nvdocker.Assignment{Devices: devices[:1], Share: 1}
		}
	}
	train := exec.Command("echo", "training")
	train.Env = append(os.Environ(), one.Environment()...)
	train.Stdout = os.Stdout
	if err := train.Run(); err != nil {
		fmt.Println(err)
	}
	// Output: training
}
