package cli

import (
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"mlframework/sweep/human"
)

// helpWidth is how wide a help is, in columns, and optionWidth how wide the names of its options
// are at most before their text begins on a line of its own.
const (
	helpWidth   = 80
	optionWidth = 26
)

// CommandHelp returns the help template of a program's commands. Exit codes are its last section.
func CommandHelp(exitCodes string) string {
	return `{{.HelpName}} - {{.Usage}}

USAGE:
   {{.HelpName}} [options]{{with .ArgsUsage}} {{.}}{{end}}{{if .VisibleCommands}}
   {{.HelpName}} COMMAND [options]{{end}}
{{with .Description}}
{{.}}
{{end}}{{with .VisibleCommands}}
COMMANDS:
{{commands .}}{{end}}
OPTIONS:
{{options .VisibleFlags}}
` + exitCodes
}

// helpPrinter returns what fills the help templates of a program; with all, also with its rare
// options. Beside what the library offers, templates have options and commands, which render lists
// of them, and all.
func helpPrinter(app *cli.App, all bool) func(w io.Writer, template string, of any) {
	var hidden []string
	if !all {
		hidden, _ = app.Metadata[rareKey].([]string)
	}
	functions := map[string]any{
		"options":  func(flags []cli.Flag) string { return optionsHelp(flags, hidden) },
		"commands": commandsHelp,
		"all":      func() bool { return all },
	}
	return func(w io.Writer, template string, of any) {
		cli.HelpPrinterCustom(w, template, of, functions)
	}
}

// rareKey is where a program keeps the names of its rare options.
const rareKey = "rare"

// Rare says which options of a program and of its commands --help shows with --all only.
func Rare(app *cli.App, names ...string) { app.Metadata = map[string]any{rareKey: names} }

// helpOfAll reports whether a command line, without the name of the program, is for a help with all
// options, and returns it without the word that says so.
func helpOfAll(args []string) ([]string, bool) {
	end := slices.Index(args, "--")
	if end < 0 {
		end = len(args)
	}
	words := args[:end]
	help := slices.Contains(words, "--help") || slices.Contains(words, "-h") ||
		len(words) > 0 && words[0] == "help"
	if !help || !slices.Contains(words, "--all") {
		return args, false
	}
	isAll := func(word string) bool { return word == "--all" }
	return append(slices.DeleteFunc(slices.Clone(words), isAll), args[end:]...), true
}

// commandsHelp returns a line for each command.
func commandsHelp(commands []*cli.Command) string {
	var b strings.Builder
	width := 0
	for _, c := range commands {
		width = max(width, len(c.Name))
	}
	for _, c := range commands {
		entry(&b, c.Name, width, c.Usage)
	}
	return b.String()
}

// optionsHelp returns the lines of options: names, and the text beside or below them. The
// last line has the number of those that are hidden.
func optionsHelp(flags []cli.Flag, hidden []string) string {
	var b strings.Builder
	var heads, texts []string
	width, left := 0, 0
	for _, f := range flags {
		if slices.Contains(hidden, f.Names()[0]) {
			left++
			continue
		}
		head, text := optionHelp(f)
		if len(head) <= optionWidth {
			width = max(width, len(head))
		}
		heads, texts = append(heads, head), append(texts, text)
	}
	for i := range heads {
		entry(&b, heads[i], width, texts[i])
	}
	if left > 0 {
		b.WriteString("   (" + human.Plural(int64(left), "more option") + ": --help --all)\n")
	}
	return b.String()
}

// optionHelp returns the names of an option with what stands for its value, and its text.
func optionHelp(f cli.Flag) (head, text string) {
	names := slices.Clone(f.Names())
	slices.SortStableFunc(names, func(a, b string) int { return len(a) - len(b) })
	if len(names[0]) > 1 {
		head = "    " // where others have a letter
	}
	for i, name := range names {
		if i > 0 {
			head += ", "
		}
		head += dashes(name)
	}
	d, documented := f.(cli.DocGenerationFlag)
	if !documented {
		return head, ""
	}
	text = d.GetUsage()
	if before, rest, marked := strings.Cut(text, "`"); marked {
		value, after, _ := strings.Cut(rest, "`")
		head, text = head+" "+value, before+value+after
	}
	if byDefault := d.GetDefaultText(); byDefault != "" && takesValue(f) {
		text += unbroken(" (default: " + strings.Trim(byDefault, `"`) + ")")
	}
	for _, variable := range d.GetEnvVars() {
		text += " [$" + variable + "]"
	}
	return head, text
}

// joiner stands for a space at which entry does not wrap.
const joiner = "\x00"

// unbroken returns words with the space before them so that they stay on one line, if they are
// short.
func unbroken(words string) string {
	if len(words) > optionWidth {
		return words
	}
	return " " + strings.ReplaceAll(words[1:], " ", joiner)
}

// entry writes a name and its text, which is wrapped and begins in the column after width, on the
// next line if the name is wider.
func entry(b *strings.Builder, name string, width int, text string) {
	const indent = "   "
	column := len(indent) + width + 2
	line := indent + name
	if len(name) > width {
		b.WriteString(line + "\n")
		line = ""
	}
	line += strings.Repeat(" ", column-len(line))
	at := len(line)
	for word := range strings.FieldsSeq(text) {
		switch {
		case len(line) == at:
			line += word
		case len(line)+1+len(word) > helpWidth:
			b.WriteString(strings.ReplaceAll(line, joiner, " ") + "\n")
			line = strings.Repeat(" ", column) + word
		default:
			line += " " + word
		}
	}
	b.WriteString(strings.ReplaceAll(strings.TrimRight(line, " "), joiner, " ") + "\n")
}
