package cli

import (
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
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

// printHelp fills a help template. Beside what the library offers, templates have options and
// commands, which render lists of them.
func printHelp(w io.Writer, template string, of any) {
	functions := map[string]any{"options": optionsHelp, "commands": commandsHelp}
	cli.HelpPrinterCustom(w, template, of, functions)
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

// optionsHelp returns the lines of options: names, and the text beside or below them.
func optionsHelp(flags []cli.Flag) string {
	var b strings.Builder
	var heads, texts []string
	width := 0
	for _, f := range flags {
		head, text := optionHelp(f)
		if len(head) <= optionWidth {
			width = max(width, len(head))
		}
		heads, texts = append(heads, head), append(texts, text)
	}
	for i := range heads {
		entry(&b, heads[i], width, texts[i])
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
