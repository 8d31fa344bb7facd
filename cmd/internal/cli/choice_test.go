package cli_test

import (
	"testing"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
)

// An option that may have a value takes it from its own word only.
func TestChoice(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{"": "", "--monitor": "operator", "-monitor": "operator",
		"--monitor x": "operator", "--monitor=viewer x": "viewer", "x --monitor=operator": "operator",
		"--monitor=banana": "wrong", "--monitor=": "wrong", "--monitor=true": "wrong"} {
		got := "wrong"
		app := &cliv2.App{Name: "prog",
			Flags: []cliv2.Flag{cli.Choice("monitor", "", "operator", "viewer")},
			Action: func(ctx *cliv2.Context) error {
				got = cli.Chosen(ctx, "monitor")
				return nil
			}}
		args, err := cli.Arrange(app, words(line))
		if err == nil {
			err = app.Run(args)
		}
		if got != want || (err != nil) != (want == "wrong") {
			t.Errorf("%q is %q, %v, want %q", line, got, err, want)
		}
	}
}
