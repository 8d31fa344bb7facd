package cli_test

import (
	"math"
	"strings"
	"testing"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
)

func TestGPUBusy(t *testing.T) {
	const what, above = "MLFRAMEWORK_GPU_BUSY", "MLFRAMEWORK_GPU_BUSY_ABOVE"
	type of = cli.GPUBusy
	for _, c := range []struct {
		name, variable, value string
		args                  []string
		want                  of
		given                 string
		problem               string
	}{
		{"by default", "", "", nil, of{1 << 30, false}, "", ""},
		{"an option", "", "", []string{"--gpu-busy-above", "300m"}, of{300 << 20, false},
			"--gpu-busy-above", ""},
		{"a variable", above, "1.5g", nil, of{3 << 29, false}, "", ""},
		{"both", above, "2g", []string{"--gpu-busy-above", "512m"}, of{512 << 20, false},
			"--gpu-busy-above", ""},
		{"mine", "", "", []string{"--gpu-busy", "mine"}, of{math.MaxInt64, false}, "--gpu-busy",
			""},
		{"never", what, "never", nil, of{math.MaxInt64, true}, "", ""},
		{"no unit", "", "", []string{"--gpu-busy-above", "500"}, of{}, "--gpu-busy-above",
			"500 has no unit"},
		{"nothing", "", "", []string{"--gpu-busy-above", "0k"}, of{}, "--gpu-busy-above",
			"0k is too small"},
		{"a wrong variable", above, "much", nil, of{}, "", `"much" is not a size`},
		{"another word", what, "yes", nil, of{}, "", `"yes" is not a valid choice`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.variable != "" {
				t.Setenv(c.variable, c.value)
			}
			var got of
			var problem error
			given := ""
			app := &cliv2.App{Flags: cli.GPUBusyFlags(""), Action: func(ctx *cliv2.Context) error {
				got, problem = cli.GPUBusyOf(ctx)
				given = cli.GPUBusyGiven(ctx)
				return nil
			}}
			if err := app.Run(append([]string{"x"}, c.args...)); err != nil {
				t.Fatal(err)
			}
			if got != c.want || given != c.given || (problem == nil) != (c.problem == "") ||
				problem != nil && !strings.Contains(problem.Error(), c.problem) {
				t.Errorf("%+v, %q, %v", got, given, problem)
			}
		})
	}
}
