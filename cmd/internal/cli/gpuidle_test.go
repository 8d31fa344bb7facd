package cli_test

import (
	"strings"
	"testing"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
)

func TestGPUIdle(t *testing.T) {
	for _, c := range []struct {
		name, variable string
		args           []string
		want           int64
		given          bool
		problem        string
	}{
		{"by default", "", nil, 300 << 20, false, ""},
		{"an option", "", []string{"--gpu-idle-memory", "1g"}, 1 << 30, true, ""},
		{"a variable", "1.5g", nil, 3 << 29, false, ""},
		{"both", "2g", []string{"--gpu-idle-memory", "512m"}, 512 << 20, true, ""},
		{"no unit", "", []string{"--gpu-idle-memory", "500"}, 0, true, "500 has no unit"},
		{"nothing", "", []string{"--gpu-idle-memory", "0k"}, 0, true, "0k is too small"},
		{"a wrong variable", "much", nil, 0, false, `"much" is not a size`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.variable != "" {
				t.Setenv("MLFRAMEWORK_GPU_IDLE_MEMORY", c.variable)
			}
			var got int64
			var problem error
			given := false
			app := &cliv2.App{Flags: []cliv2.Flag{cli.GPUIdleFlag("")},
				Action: func(ctx *cliv2.Context) error {
					got, problem = cli.GPUIdle(ctx)
					given = cli.GPUIdleGiven(ctx)
					return nil
				}}
			if err := app.Run(append([]string{"x"}, c.args...)); err != nil {
				t.Fatal(err)
			}
			if got != c.want || given != c.given || (problem == nil) != (c.problem == "") ||
				problem != nil && !strings.Contains(problem.Error(), c.problem) {
				t.Errorf("%d, %v, %v", got, given, problem)
			}
		})
	}
}
