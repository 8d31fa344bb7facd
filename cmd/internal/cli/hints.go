package cli

import (
	"io"
	"regexp"
	"strings"

	"mlframework/sweep/human"
)

// Hints completes command lines in messages with the options that say which cluster and project a
// command was about.
type Hints struct {
	Config  string // value of --config; "": not given
	Project string // value of -d; "": not given
}

// HintsOf returns the options of a command line, as Arrange returns it.
func HintsOf(args []string) (h Hints) {
	for i, arg := range args {
		name, value, inside := option(arg)
		if !inside && i+1 < len(args) {
			value = args[i+1]
		}
		switch name {
		case "":
			if arg == "--" {
				return h
			}
		case "config":
			h.Config = value
		case "d", "project":
			h.Project = value
		}
	}
	return h
}

// Command returns a command with the options.
func (h Hints) Command(words string) string {
	if h.Config != "" {
		words += " " + human.CommandLine([]string{"--config", h.Config})
	}
	if h.Project != "" {
		words += " " + human.CommandLine([]string{"-d", h.Project})
	}
	return words
}

// hinted are commands in messages: their first words, and whether they are about a project.
var hinted = regexp.MustCompile(`\b(?:(infrainit -f|update-files --yes|` +
	`run-tasks --(?:dry-run|missing|no-upload|local))|(check-status --(?:logs|audit)|` +
	`run-tasks (?:workers|fetch|logs|show|ls|cancel|resume|retry|results|pause)))\b`)

// Complete returns a message whose commands have the options, unless they name others.
func (h Hints) Complete(text string) string {
	if h == (Hints{}) {
		return text
	}
	done := 0
	var b strings.Builder
	for _, at := range hinted.FindAllStringSubmatchIndex(text, -1) {
		command, rest := text[at[0]:at[1]], text[at[1]:]
		if end := strings.IndexAny(rest, ";`\"\n"); end >= 0 {
			rest = rest[:end]
		}
		missing := h
		if strings.Contains(rest, " --config ") {
			missing.Config = ""
		}
		if at[2] < 0 || strings.Contains(rest, " -d ") {
			missing.Project = ""
		}
		program, _, _ := strings.Cut(command, " ")
		if program == "infrainit" {
			program = command
		}
		b.WriteString(text[done:at[0]] + missing.Command(program))
		done = at[0] + len(program)
	}
	return b.String() + text[done:]
}

// hintWriter completes what is written with hints.
type hintWriter struct {
	io.Writer
	hints Hints
}

func (w hintWriter) Write(text []byte) (int, error) {
	_, err := io.WriteString(w.Writer, w.hints.Complete(string(text)))
	return len(text), err
}
