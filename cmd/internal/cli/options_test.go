package cli_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/config"
)

// Not parallel: an App writes to variables of its library.
func TestClusterFlagsReachTheSource(t *testing.T) {
	for _, c := range []struct {
		name string
		args []string
		want map[string]string
	}{
		{"short", []string{"-a", "a,b", "-m", "1", "-w", "2"}, map[string]string{"hosts": "a,b",
			"master": "1", "workers": "2"}},
		{"long", []string{"--hosts=a", "--drain-timeout", "2h"}, map[string]string{"hosts": "a",
			"drain-timeout": "2h"}},
		{"switch", []string{"--expose-monitor"}, map[string]string{"expose-monitor": "true"}},
		{"switch off", []string{"--expose-monitor=false"},
			map[string]string{"expose-monitor": "false"}},
		{"emptied", []string{"-w", ""}, map[string]string{"workers": ""}},
		{"none", nil, map[string]string{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got config.Source
			app := &cliv2.App{Name: "infrainit", Flags: append(cli.ClusterFlags(),
				cli.ConfigFlag()), Action: func(ctx *cliv2.Context) error {
				got = cli.Source(ctx, true)
				return nil
			}}
			args, err := cli.Arrange(app, append([]string{"infrainit", "--config", "x.yml"},
				c.args...))
			if err != nil {
				t.Fatal(err)
			}
			if err := app.Run(args); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got.Flags); diff != "" {
				t.Error(diff)
			}
			if got.File != "x.yml" || !got.Saved || got.Home == "" {
				t.Errorf("%+v", got)
			}
		})
	}
}

func TestClusterFlagsByName(t *testing.T) {
	t.Parallel()
	flags := cli.ClusterFlags("project", "key")
	if len(flags) != 2 || flags[0].Names()[0] != "key" || flags[1].Names()[1] != "d" {
		t.Error(flags)
	}
}
