package cli

import (
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"mlframework/sweep/fault"
)

// Arrange puts options before positional arguments, so that they may stand anywhere on the command
// line: the library stops at the first positional argument and swallows what follows. It rejects
// options that the command does not have and unknown subcommands, and names the nearest one. What
// follows "--" is positional. The result is what app.Run takes.
//
// The first positional arguments name the command, as deep as commands have subcommands; if the
// first one is not a command, the app's own action is meant. With --help, or after the word help,
// nothing else counts.
func Arrange(app *cli.App, args []string) ([]string, error) {
	if words := args[1:]; len(words) > 0 && words[0] == "help" {
		if len(words) > 1 && app.Command(words[1]) == nil {
			return nil, UnknownCommand(app.Name, words[1], app.Commands)
		}
		args = append(append(args[:1:1], words[1:]...), "--help")
	}
	c := commandOf(app, args[1:])
	if c.stray != "" {
		return nil, UnknownCommand(c.name(), c.stray, c.subcommands())
	}
	options, positional, err := c.split(args[1:])
	if err != nil {
		return nil, err
	}
	arranged := args[:1:1]
	for _, part := range c.path {
		arranged = append(arranged, part.Name)
	}
	arranged, positional = append(arranged, options...), positional[len(c.path):]
	if len(positional) == 0 || slices.Contains(options, "--help") ||
		slices.Contains(options, "-h") {
		return arranged, nil
	}
	return append(append(arranged, "--"), positional...), nil
}

// UnknownCommand returns the error for a word that is not one of the subcommands of a program or
// command.
func UnknownCommand(of, word string, commands []*cli.Command) error {
	var known []string
	for _, c := range commands {
		known = append(known, c.Names()...)
	}
	remedy := "see `" + of + " --help`"
	if near := fault.Nearest(word, known); near != "" {
		remedy = "did you mean `" + of + " " + near + "`?"
	}
	return Wrong(remedy, "unknown command %q for %q", word, of)
}

// NamesCommand reports whether a command line, without the name of the program, names a subcommand.
func NamesCommand(app *cli.App, args []string) bool { return len(commandOf(app, args).path) > 0 }

// chosen is the command that a command line names: the app, or path, the outermost first.
type chosen struct {
	app   *cli.App
	path  []*cli.Command
	every []cli.Flag // of the app and all commands
	stray string     // the word after the path, if a subcommand should stand there
}

// commandOf finds the command. After "--" the first word is not a command: it is an argument of the
// app's own action.
func commandOf(app *cli.App, args []string) chosen {
	c := chosen{app: app, every: allFlags(app.Flags, app.Commands)}
	for i, literal := 0, false; i < len(args) && len(c.subcommands()) > 0; i++ {
		if args[i] == "--" && !literal {
			if len(c.path) == 0 {
				return c
			}
			literal = true
			continue
		}
		if name, _, value := option(args[i]); name != "" && !literal {
			if f := find(c.every, name); f != nil && !value && takesValue(f) {
				i++
			}
			continue
		}
		named := func(sub *cli.Command) bool { return sub.HasName(args[i]) }
		at := slices.IndexFunc(c.subcommands(), named)
		if at < 0 {
			if len(c.path) > 0 {
				c.stray = args[i]
			}
			return c
		}
		c.path = append(c.path, c.subcommands()[at])
	}
	return c
}

func allFlags(own []cli.Flag, commands []*cli.Command) []cli.Flag {
	all := slices.Clone(own)
	for _, c := range commands {
		all = append(all, allFlags(c.Flags, c.Subcommands)...)
	}
	return all
}

func (c chosen) name() string {
	name := c.app.Name
	for _, part := range c.path {
		name += " " + part.Name
	}
	return name
}

func (c chosen) flags() []cli.Flag {
	if len(c.path) == 0 {
		return c.app.Flags
	}
	return c.path[len(c.path)-1].Flags
}

func (c chosen) subcommands() []*cli.Command {
	if len(c.path) == 0 {
		return c.app.Commands
	}
	return c.path[len(c.path)-1].Subcommands
}

// split sorts arguments into options, with their values, and the rest.
func (c chosen) split(args []string) (options, positional []string, err error) {
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
		f := find(c.flags(), name)
		if f == nil {
			return nil, nil, c.unknown(name, text)
		}
		apart := takesValue(f) && !value
		if apart {
			if i+1 == len(args) || args[i+1] == "--" {
				return nil, nil, Wrong("", "%s needs a value", dashes(name))
			}
			i++
			text = args[i]
		}
		if !apart && !value {
			options = append(options, arg)
			continue
		}
		plain, err := plainValue(f, name, text)
		switch {
		case err != nil:
			return nil, nil, err
		case apart:
			options = append(options, arg, plain)
		default:
			options = append(options, dashes(name)+"="+plain)
		}
	}
	return options, positional, nil
}

// plainValue checks a value here, because the library's words for a wrong one are a programmer's,
// and returns it as the library is to read it: that takes 010 for an octal number.
func plainValue(f cli.Flag, name, text string) (string, error) {
	switch f := f.(type) {
	case *cli.GenericFlag:
		c, is := f.Value.(*choice)
		if is && !slices.Contains(c.values, text) {
			return "", Wrong("write "+dashes(name)+", or "+dashes(name)+"="+c.values[1],
				"invalid %s %q", dashes(name), text)
		}
	case *cli.IntFlag, *cli.Int64Flag:
		n, err := strconv.Atoi(text)
		if errors.Is(err, strconv.ErrRange) {
			return "", Wrong("", "%s: %s is out of range", dashes(name), text)
		} else if err != nil {
			return "", Wrong("", "%s must be a whole number, not %q", dashes(name), text)
		}
		return strconv.Itoa(n), nil
	case *cli.BoolFlag:
		if _, err := strconv.ParseBool(text); err != nil {
			return "", Wrong("", "%s is a switch: write it without a value, not with %q",
				dashes(name), text)
		}
	}
	return text, nil
}

// attached matches an option with one letter and a number behind it, such as -j4.
var attached = regexp.MustCompile(`^-([a-z])(\d+)$`)

// option takes an argument apart: --name, -name, --name=value. A lone "-" and a negative number are
// no options.
func option(arg string) (name, text string, value bool) {
	if len(arg) < 2 || arg[0] != '-' || arg[1] >= '0' && arg[1] <= '9' {
		return "", "", false
	}
	if m := attached.FindStringSubmatch(arg); m != nil {
		return m[1], m[2], true
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
	switch f := f.(type) {
	case *cli.BoolFlag:
		return false
	case *cli.GenericFlag:
		_, isChoice := f.Value.(*choice)
		return !isChoice
	}
	return true
}

// UnknownOption is an option that a command does not have, and none of its options is near.
type UnknownOption struct {
	Name, Value string // the value is in the same word
	Command     string // "run-tasks results"
	Elsewhere   bool   // other commands have it
}

func (u *UnknownOption) Error() string {
	if u.Elsewhere {
		return dashes(u.Name) + " is not an option of " + u.Command
	}
	return "unknown option " + dashes(u.Name)
}

// unknown returns the error for an option that the command does not have.
func (c chosen) unknown(name, value string) error {
	see := "see `" + c.name() + " --help`"
	if n := len(c.path); n > 0 && strings.Contains(c.path[n-1].ArgsUsage, "-- COMMAND") {
		return Wrong("write -- before a command that has options", "unknown option %s",
			dashes(name))
	}
	if find(c.every, name) != nil {
		if with := c.with(name); 0 < len(with) && len(with) <= 3 {
			see = "it is an option of `" + strings.Join(with, "` and `") + "`"
		}
		return &Error{Usage, &UnknownOption{name, value, c.name(), true}, see}
	}
	var known []string
	for _, f := range c.flags() {
		known = append(known, f.Names()...)
	}
	if near := fault.Nearest(name, known); near != "" && len(name) > 1 {
		return Wrong("did you mean "+dashes(near)+"?", "unknown option %s", dashes(name))
	}
	return &Error{Usage, &UnknownOption{name, value, c.name(), false}, see}
}

// with returns the names of the commands below the command, or else above and beside it, that have
// an option.
func (c chosen) with(option string) (names []string) {
	add := func(flags []cli.Flag, name string) {
		if find(flags, option) != nil {
			names = append(names, name)
		}
	}
	for {
		for _, sub := range c.subcommands() {
			add(sub.Flags, c.name()+" "+sub.Name)
		}
		if len(names) > 0 || len(c.path) == 0 {
			return names
		}
		if c.path = c.path[:len(c.path)-1]; len(c.path) > 0 {
			add(c.flags(), c.name())
		}
	}
}

func dashes(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}
