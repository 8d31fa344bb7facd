package cli

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"mlframework/sweep/fault"
)

// Arrange puts options before positional arguments, so that they may stand anywhere on the command line: the library
// stops at the first positional argument and swallows what follows. It refuses options that the command does not have,
// naming the nearest one. What follows "--" is positional. The result is what app.Run takes.
//
// The command is the first positional argument that names one of the app's; else the app's own action is meant. With
// --help, or after the word help, nothing else counts.
func Arrange(app *cli.App, args []string) ([]string, error) {
	if words := args[1:]; len(words) > 0 && words[0] == "help" {
		if len(words) > 1 && app.Command(words[1]) == nil {
			return nil, Wrong("see `"+app.Name+" --help`", "there is no command %s", words[1])
		}
		args = append(append(args[:1:1], words[1:]...), "--help")
	}
	every := allFlags(app)
	command, path := findCommand(app, every, args[1:])
	own, name := app.Flags, app.Name
	if command != nil {
		own, name = command.Flags, app.Name+" "+command.Name
	}
	options, positional, err := split(own, every, name, args[1:])
	if err != nil {
		return nil, err
	}
	if command != nil {
		positional = positional[1:]
	}
	arranged := append([]string{args[0]}, path...)
	arranged = append(arranged, options...)
	if len(positional) == 0 || slices.Contains(options, "--help") || slices.Contains(options, "-h") {
		return arranged, nil
	}
	return append(append(arranged, "--"), positional...), nil
}

func allFlags(app *cli.App) []cli.Flag {
	all := slices.Clone(app.Flags)
	for _, c := range app.Commands {
		all = append(all, c.Flags...)
	}
	return all
}

// findCommand looks for the first positional argument.
func findCommand(app *cli.App, every []cli.Flag, args []string) (*cli.Command, []string) {
	for i := 0; i < len(args); i++ {
		if args[i] == "--" {
			return nil, nil
		}
		if name, _, value := option(args[i]); name != "" {
			if f := find(every, name); f != nil && !value && takesValue(f) {
				i++
			}
			continue
		}
		if c := app.Command(args[i]); c != nil {
			return c, []string{c.Name}
		}
		return nil, nil
	}
	return nil, nil
}

// split sorts arguments into options, with their values, and the rest.
func split(own, every []cli.Flag, command string, args []string) (options, positional []string, err error) {
	for i := 0; i < len(args); i++ {
		arg := args[i]
		name, text, value := option(arg)
		switch {
		case arg == "--":
			return options, append(positional, args[i+1:]...), nil
		case name == "":
			positional = append(positional, arg)
			continue
		case name == "help" || name == "h":
			options = append(options, arg)
			continue
		}
		f := find(own, name)
		if f == nil {
			return nil, nil, unknown(own, every, command, name, text)
		}
		options = append(options, arg)
		if takesValue(f) && !value {
			if i+1 == len(args) || args[i+1] == "--" {
				return nil, nil, Wrong("", "%s needs a value", dashes(name))
			}
			i++
			options = append(options, args[i])
			text, value = args[i], true
		}
		if err := fits(f, name, text); value && err != nil {
			return nil, nil, err
		}
	}
	return options, positional, nil
}

// fits checks a value here, because the library's words for a wrong one are a programmer's.
func fits(f cli.Flag, name, text string) error {
	switch f.(type) {
	case *cli.IntFlag, *cli.Int64Flag:
		if _, err := strconv.Atoi(text); errors.Is(err, strconv.ErrRange) {
			return Wrong("", "%s: %s is beyond what can be counted", dashes(name), text)
		} else if err != nil {
			return Wrong("", "%s must be a whole number, not %q", dashes(name), text)
		}
	case *cli.BoolFlag:
		if _, err := strconv.ParseBool(text); err != nil {
			return Wrong("", "%s is a switch: write it without a value, not with %q", dashes(name), text)
		}
	}
	return nil
}

// option takes an argument apart: --name, -name, --name=value. A lone "-" and a negative number are no options.
func option(arg string) (name, text string, value bool) {
	if len(arg) < 2 || arg[0] != '-' || arg[1] >= '0' && arg[1] <= '9' {
		return "", "", false
	}
	return strings.Cut(strings.TrimPrefix(arg[1:], "-"), "=")
}

func find(flags []cli.Flag, name string) cli.Flag {
	for _, f := range flags {
		if slices.Contains(f.Names(), name) {
			return f
		}
	}
	return nil
}

func takesValue(f cli.Flag) bool {
	_, isSwitch := f.(*cli.BoolFlag)
	return !isSwitch
}

// UnknownOption is an option that no command has, and none is near, with the value that is in the same word.
type UnknownOption struct{ Name, Value string }

func (u *UnknownOption) Error() string { return "there is no option " + dashes(u.Name) }

func unknown(own, every []cli.Flag, command, name, value string) error {
	if find(every, name) != nil {
		return Wrong("see `"+command+" --help`", "%s is not an option of %s", dashes(name), command)
	}
	var known []string
	for _, f := range own {
		known = append(known, f.Names()...)
	}
	if near := fault.Nearest(name, known); near != "" && len(name) > 1 {
		return Wrong("did you mean "+dashes(near)+"?", "there is no option %s", dashes(name))
	}
	return &Error{Usage, &UnknownOption{name, value}, "see `" + command + " --help`"}
}

func dashes(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}
