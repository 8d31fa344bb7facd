package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// stamp is what stands at the foot of every page.
type stamp struct{ date, version string }

// help is what a command prints with --help.
type help struct {
	name, summary string
	usage         []string   // command lines
	prose         [][]string // paragraphs; a line that is indented is shown as it is
	examples      []string
	commands      []entry
	options       []entry
	codes         []entry
}

// entry is a line of a list: what it is about, and the text beside it.
type entry struct{ head, text string }

// parse reads a help: a line with name and summary, then blocks between empty lines, some of which
// have a heading in capitals.
func parse(text string) (h help) {
	first, rest, _ := strings.Cut(strings.TrimSpace(text), "\n")
	h.name, h.summary, _ = strings.Cut(first, " - ")
	for block := range strings.SplitSeq(strings.TrimSpace(rest), "\n\n") {
		lines := strings.Split(strings.TrimRight(block, "\n"), "\n")
		heading, isHeading := strings.CutSuffix(lines[0], ":")
		heading, _, _ = strings.Cut(heading, " (")
		switch {
		case isHeading && heading == "USAGE":
			h.usage = unindent(lines[1:])
		case isHeading && heading == "EXAMPLES":
			h.examples = unindent(lines[1:])
		case isHeading && heading == "COMMANDS":
			h.commands = entries(lines[1:])
		case isHeading && heading == "OPTIONS":
			h.options = entries(lines[1:])
		case isHeading && heading == "EXIT CODES":
			h.codes = entries(lines[1:])
		default:
			h.prose = append(h.prose, lines)
		}
	}
	return h
}

func unindent(lines []string) []string {
	plain := make([]string, len(lines))
	for i, l := range lines {
		plain[i] = strings.TrimPrefix(l, "   ")
	}
	return plain
}

// textOf matches a line of a list, from its head on. Two spaces end the head.
var textOf = regexp.MustCompile(`^(\S+(?: \S+)*)(?:  +(.*))?$`)

// entries reads a list. What is indented by more than the longest head goes on with the text above.
func entries(lines []string) (list []entry) {
	for _, l := range lines {
		indent := len(l) - len(strings.TrimLeft(l, " "))
		m := textOf.FindStringSubmatch(strings.TrimSpace(l))
		long := indent == 7 && strings.HasPrefix(m[1], "--") // an option without a letter
		if indent == 3 || long || len(list) == 0 {
			list = append(list, entry{m[1], m[2]})
		} else {
			last := &list[len(list)-1]
			last.text = strings.TrimSpace(last.text + " " + strings.TrimSpace(l))
		}
	}
	return list
}

func (h *help) subcommands() (names []string) {
	for _, c := range h.commands {
		names = append(names, c.head)
	}
	return names
}

// page returns the manual page in the man macros of roff.
func (h *help) page(s stamp) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	verbatim := func(heading string, lines []string) {
		line(".SH %s\n.nf", heading)
		for _, l := range lines {
			line("%s", escape(l))
		}
		line(".fi")
	}
	title := strings.ReplaceAll(h.name, " ", "-")
	line(".TH %s 1 %s %q mlframework", escape(strings.ToUpper(title)), s.date,
		"mlframework "+s.version)
	line(".SH NAME\n%s \\- %s", escape(title), escape(h.summary))
	verbatim("SYNOPSIS", h.usage)
	if len(h.prose) > 0 {
		line(".SH DESCRIPTION")
	}
	for i, lines := range h.prose {
		if i > 0 {
			line(".PP")
		}
		if strings.HasPrefix(lines[0], " ") {
			line(".nf")
		}
		for _, l := range lines {
			line("%s", escape(strings.TrimRight(l, " ")))
		}
		if strings.HasPrefix(lines[0], " ") {
			line(".fi")
		}
	}
	h.list(line, "COMMANDS", h.commands, func(head string) string {
		return `.BR ` + escape(title+"-"+head) + ` (1)`
	})
	h.list(line, "OPTIONS", h.options, optionHead)
	h.list(line, "EXIT STATUS", h.codes, func(head string) string { return ".B " + escape(head) })
	if len(h.examples) > 0 {
		verbatim("EXAMPLES", h.examples)
	}
	if words := strings.Fields(h.name); len(words) > 1 {
		line(".SH SEE ALSO\n.BR %s (1)", escape(strings.Join(words[:len(words)-1], "-")))
	}
	return b.String()
}

func (h *help) list(line func(string, ...any), heading string, list []entry,
	head func(string) string) {
	if len(list) == 0 {
		return
	}
	line(".SH %s", heading)
	for _, e := range list {
		line(".TP\n%s\n%s", head(e.head), escape(e.text))
	}
}

// optionHead sets the names of an option in bold, and what stands for its value in italics.
func optionHead(head string) string {
	names, value := head, ""
	if i := slices.IndexFunc(strings.Split(head, " "), func(word string) bool {
		return !strings.HasPrefix(word, "-")
	}); i >= 0 {
		words := strings.SplitN(head, " ", i+1)
		names, value = strings.Join(words[:i], " "), words[i]
	}
	if value == "" {
		return ".B " + escape(names)
	}
	return `\fB` + escape(names) + `\fR \fI` + escape(value) + `\fR`
}

// special are the characters that mean something else in roff, or look otherwise.
var special = strings.NewReplacer(`\`, `\e`, `-`, `\-`, `'`, `\(aq`, "`", `\(ga`, `^`, `\(ha`,
	`~`, `\(ti`, `"`, `\(dq`)

// escape writes a text for roff.
func escape(text string) string {
	escaped := special.Replace(text)
	if strings.HasPrefix(escaped, ".") {
		return `\&` + escaped
	}
	return escaped
}
