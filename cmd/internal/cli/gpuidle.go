package cli

import (
	"os"

	"github.com/urfave/cli/v2"

	"mlframework/internal/yamlfile"
)

const (
	gpuIdleName     = "gpu-idle-memory"
	gpuIdleVariable = "MLFRAMEWORK_GPU_IDLE_MEMORY"
)

// GPUIdleFlag is --gpu-idle-memory, whose value GPUIdle reads.
func GPUIdleFlag(where string) cli.Flag {
	return &cli.StringFlag{Name: gpuIdleName, Value: "300m", EnvVars: []string{gpuIdleVariable},
		Usage: where + "give a GPU to tasks while others use up to `SIZE` of its memory, as a " +
			"desktop does, and no program computes on it"}
}

// GPUIdle is how much of a GPU's memory others may use while tasks get it, in bytes.
func GPUIdle(ctx *cli.Context) (int64, error) {
	bytes, problem, remedy := yamlfile.ParseSize(ctx.String(gpuIdleName), 1<<20)
	if problem != "" {
		return 0, Wrong(remedy, "--%s (%s): %s", gpuIdleName, gpuIdleVariable, problem)
	}
	return bytes, nil
}

// GPUIdleGiven reports whether --gpu-idle-memory is in the command line: the variable may be set
// for other commands.
func GPUIdleGiven(ctx *cli.Context) bool {
	return ctx.IsSet(gpuIdleName) && ctx.String(gpuIdleName) != os.Getenv(gpuIdleVariable)
}
