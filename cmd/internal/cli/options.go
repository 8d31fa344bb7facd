package cli

import (
	"os"
	"os/user"
	"slices"
	"strconv"

	"github.com/urfave/cli/v2"

	"mlframework/config"
)

// Switch returns an option without a value.
func Switch(name, usage string, aliases ...string) cli.Flag {
	return &cli.BoolFlag{Name: name, Aliases: aliases, Usage: usage}
}

// Choice returns an option that is a switch, and may have a value: --NAME is the first of the values,
// --NAME=VALUE one of them. [Chosen] reads it.
func Choice(name, usage string, values ...string) cli.Flag {
	return &cli.GenericFlag{Name: name, Usage: usage, Value: &choice{values: values}}
}

// choice is the value of a [Choice].
type choice struct {
	values []string
	chosen string // "": the option is not there
}

// Set implements flag.Value.
func (c *choice) Set(text string) error {
	if text == "true" { // as package flag reads an option without a value
		text = c.values[0]
	}
	c.chosen = text
	return nil
}

// String implements flag.Value.
func (c *choice) String() string { return c.chosen }

// IsBoolFlag has package flag read the option without a value.
func (*choice) IsBoolFlag() bool { return true }

// Chosen returns the value of a [Choice]; "": it is not there.
func Chosen(ctx *cli.Context, name string) string { return ctx.Generic(name).(*choice).chosen }

// ConfigFlag is --config, which every command has that reads cluster.yml.
func ConfigFlag() cli.Flag {
	return &cli.StringFlag{Name: "config", DefaultText: config.FileName,
		Usage: "cluster configuration `FILE`"}
}

// ClusterFlags are the options of cluster.yml as flags: those of the names, or all.
func ClusterFlags(names ...string) []cli.Flag {
	var flags []cli.Flag
	for _, f := range config.Flags() {
		if len(names) > 0 && !slices.Contains(names, f.Name) {
			continue
		}
		var aliases []string
		if f.Short != "" {
			aliases = []string{f.Short}
		}
		if f.Switch {
			flags = append(flags, Switch(f.Name, f.Usage, aliases...))
		} else {
			flags = append(flags, &cli.StringFlag{Name: f.Name, Aliases: aliases, Usage: f.Usage,
				DefaultText: f.Default})
		}
	}
	return flags
}

// Source is where the configuration of this call comes from, for a command with [ClusterFlags]. With
// saved, options are taken from the file, too.
func Source(ctx *cli.Context, saved bool) config.Source {
	s, given := FileSource(ctx), map[string]string{}
	for _, f := range config.Flags() {
		switch {
		case !ctx.IsSet(f.Name):
		case f.Switch:
			given[f.Name] = strconv.FormatBool(ctx.Bool(f.Name))
		default:
			given[f.Name] = ctx.String(f.Name)
		}
	}
	s.Saved, s.Flags = saved, given
	return s
}

// FileSource is where the configuration of this call comes from, for a command whose own options
// may have the names of those of a cluster: the file and the environment.
func FileSource(ctx *cli.Context) config.Source {
	s := config.Source{File: ctx.String("config"), Saved: true, Environ: os.Environ()}
	if u, err := user.Current(); err == nil {
		s.User, s.Home = u.Username, u.HomeDir
	}
	if home, err := os.UserHomeDir(); err == nil { // $HOME wins
		s.Home = home
	}
	return s
}
