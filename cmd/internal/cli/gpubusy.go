package cli

import (
	"math"
	"os"

	"github.com/urfave/cli/v2"

	"mlframework/internal/yamlfile"
	"mlframework/sweep/fault"
)

const gpuBusyName, gpuBusyAboveName = "gpu-busy", "gpu-busy-above"

// GPUBusyFlags are --gpu-busy and --gpu-busy-above, whose values GPUBusyOf reads.
func GPUBusyFlags(where string) []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: gpuBusyName, Value: "memory",
			EnvVars: []string{gpuBusyVariable(gpuBusyName)},
			Usage: where + "`WHAT` makes a GPU unavailable to tasks: memory used by others, or " +
				"their locks (memory); only their locks (mine); nothing (never)"},
		&cli.StringFlag{Name: gpuBusyAboveName, Value: "1g",
			EnvVars: []string{gpuBusyVariable(gpuBusyAboveName)},
			Usage: where + "with --gpu-busy memory: others may use up to `SIZE` of a GPU's memory " +
				"before it becomes unavailable"},
	}
}

func gpuBusyVariable(option string) string {
	if option == gpuBusyName {
		return "MLFRAMEWORK_GPU_BUSY"
	}
	return "MLFRAMEWORK_GPU_BUSY_ABOVE"
}

// GPUBusy is what keeps a GPU from tasks, beside tasks.
type GPUBusy struct {
	// Above is how many bytes of its memory others may use; math.MaxInt64: any.
	Above       int64
	IgnoreLocks bool
}

// GPUBusyOf returns what --gpu-busy and --gpu-busy-above say.
func GPUBusyOf(ctx *cli.Context) (b GPUBusy, err error) {
	above, problem, remedy := yamlfile.ParseSize(ctx.String(gpuBusyAboveName), 1<<20)
	if problem != "" {
		return b, Wrong(remedy, "--%s (%s): %s", gpuBusyAboveName,
			gpuBusyVariable(gpuBusyAboveName), problem)
	}
	switch what := ctx.String(gpuBusyName); what {
	case "memory":
		return GPUBusy{Above: above}, nil
	case "mine":
		return GPUBusy{Above: math.MaxInt64}, nil
	case "never":
		return GPUBusy{Above: math.MaxInt64, IgnoreLocks: true}, nil
	default:
		return b, Wrong("write memory, mine or never", "--%s (%s): %s is not a valid choice",
			gpuBusyName, gpuBusyVariable(gpuBusyName), fault.Quote(what))
	}
}

// GPUBusyGiven returns which of --gpu-busy and --gpu-busy-above is in the command line: the
// variables may be set for other commands. "": neither.
func GPUBusyGiven(ctx *cli.Context) string {
	for _, name := range []string{gpuBusyName, gpuBusyAboveName} {
		if ctx.IsSet(name) && ctx.String(name) != os.Getenv(gpuBusyVariable(name)) {
			return "--" + name
		}
	}
	return ""
}
