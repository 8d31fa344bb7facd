package cli_test

import (
	"errors"
	"strings"
	"testing"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
)

// Commands that an error names have the options by which the command was about another cluster or
// project.
func TestCommandsInErrorsHaveTheOptions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ args, remedy, want string }{
		{"-d other", "run infrainit -f to recreate them", "run infrainit -f -d other to recreate them"},
		{"-d other --config c.yml", "run infrainit -f", "run infrainit -f --config c.yml -d other"},
		{"-d big", "confirm with update-files --yes", "confirm with update-files -d big --yes"},
		{"--config=my#c.yml", "infrainit -f starts one", "infrainit -f --config 'my#c.yml' starts one"},
		{"--config c.yml -d p", "check-status --logs gpu2 shows why; infrainit -f starts it",
			"check-status --config c.yml --logs gpu2 shows why; infrainit -f --config c.yml -d p starts it"},
		{"--config c.yml -d p", "`run-tasks workers forget gpu2` cancels it",
			"`run-tasks --config c.yml workers forget gpu2` cancels it"},
		{"--config c.yml -d p", "run infrainit -f -d p; run-tasks --config c.yml workers",
			"run infrainit -f --config c.yml -d p; run-tasks --config c.yml workers"},
		{"-d p", "a new sweep uses it: run-tasks --missing train",
			"a new sweep uses it: run-tasks -d p --missing train"},
		{"-- -d p", "run infrainit -f", "run infrainit -f"},
		{"", "run infrainit -f", "run infrainit -f"},
	} {
		var b strings.Builder
		app := cli.App("prog", "", "", &b, &b, cli.ConfigFlag(), &cliv2.StringFlag{Name: "d"})
		app.Action = func(*cliv2.Context) error {
			return &cli.Error{Code: cli.Invalid, Err: errors.New("it is so"), Remedy: c.remedy}
		}
		code := cli.Run(t.Context(), app, "", append([]string{"prog"}, strings.Fields(c.args)...),
			func(err error) error { return err })
		if want := "prog: it is so\n  " + c.want + "\n"; b.String() != want || code != cli.Invalid {
			t.Errorf("%q: exit code %d, it says\n%swant\n%s", c.args, code, &b, want)
		}
	}
}
