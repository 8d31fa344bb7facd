package config

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"mlframework/sweep/fault"
)

// oldNames are the variables of config.sh and the options that they have become.
var oldNames = []struct{ variable, option string }{
	{"REMOTE", "hosts"}, {"KEY", "key"}, {"REMOTE_PATH", "folder"}, {"PROJ_FOLDER", "project"},
	{"START_MASTER", "master"}, {"START_WORKER", "workers"}, {"BROKER_ADDRESS", "master-address"},
}

var (
	assignment = regexp.MustCompile(`(?s)^(?:export\s+|declare\s+(?:-\w+\s+)*|readonly\s+)?([A-Za-z_][A-Za-z0-9_]*)=(.*)$`)
	homeFolder = regexp.MustCompile(`^(~|\$HOME|\$\{HOME\})(/|$)`)
)

// readShell reads config.sh of the old system as text. Nothing in it is run: what would need a shell to be understood is
// left out with a warning.
func readShell(file, text string) (map[string]value, fault.List) {
	values := map[string]value{}
	var warnings fault.List
	for _, l := range shellLines(text) {
		warn := func(problem, remedy string) {
			warnings.Add(fault.Fault{File: file, Line: l.number, Problem: problem, Remedy: remedy})
		}
		m := assignment.FindStringSubmatch(l.text)
		if m == nil {
			warn("is not understood: "+printable(l.text), "only assignments are read, and nothing is run")
			continue
		}
		i := slices.IndexFunc(oldNames, func(n struct{ variable, option string }) bool { return n.variable == m[1] })
		if i < 0 {
			warn(printable(m[1])+" means nothing here", "")
			continue
		}
		words, ok := shellWords(m[2])
		if !ok {
			warn(m[1]+" is not understood: "+printable(m[2]), "write a plain value")
			continue
		}
		row := table[slices.IndexFunc(table, func(o option) bool { return o.name == oldNames[i].option })]
		delete(values, row.name) // the last assignment counts, also when it is empty
		if v := single(row, File, place{file, l.number, 0}, m[1], oldValue(row, words)); len(v.words) > 0 {
			values[row.name] = v
		}
	}
	warnings.Add(fault.Fault{File: file, Problem: "of the old system was read", Remedy: fmt.Sprintf("what it says is saved in %s, and then it is not needed any more", FileName)})
	return values, warnings
}

// oldValue puts what the old system took into the form of today.
func oldValue(row option, words []string) string {
	switch row.name {
	case "hosts", "workers":
		return joinList(words)
	case "key":
		if len(words) > 0 && strings.HasPrefix(words[0], "-i") {
			words[0] = strings.TrimSpace(strings.TrimPrefix(words[0], "-i"))
		}
		return homeFolder.ReplaceAllString(strings.TrimSpace(strings.Join(words, " ")), "~$2")
	case "folder":
		return strings.TrimSuffix(homeFolder.ReplaceAllString(strings.Join(words, " "), ""), "/")
	}
	return strings.TrimSpace(strings.Join(words, " "))
}

// joinList takes spaces for commas, and more than one comma for one: the shell did not mind.
func joinList(words []string) string {
	list := strings.FieldsFunc(strings.Join(words, ","), func(c rune) bool { return c == ',' || c == ' ' || c == '\t' || c == '\n' })
	return strings.Join(list, ",")
}

// shellLine is one command of the file, its comment taken off.
type shellLine struct {
	number int
	text   string
}

// shellLines takes the file apart at newlines and semicolons that are in no quotes and no brackets.
func shellLines(text string) []shellLine {
	var lines []shellLine
	var b strings.Builder
	var quote rune
	depth, number, begin := 0, 1, 1
	comment, escaped := false, false
	flush := func() {
		if t := strings.TrimSpace(b.String()); t != "" {
			lines = append(lines, shellLine{begin, t})
		}
		b.Reset()
	}
	last := '\n'
	for _, c := range strings.ReplaceAll(text, "\r\n", "\n") {
		switch {
		case escaped:
			escaped = false
		case comment && c != '\n':
			last = c
			continue
		case quote != 0:
			if c == quote {
				quote = 0
			}
			escaped = c == '\\' && quote == '"'
		case c == '\\':
			escaped = true
		case c == '"' || c == '\'':
			quote = c
		case c == '#' && strings.ContainsRune(" \t\n;(", last):
			comment = true
			last = c
			continue
		case c == '(':
			depth++
		case c == ')':
			depth = max(0, depth-1)
		}
		comment = comment && c != '\n'
		if (c == '\n' || c == ';') && quote == 0 && depth == 0 {
			flush()
		} else {
			if strings.TrimSpace(b.String()) == "" {
				begin = number
			}
			b.WriteRune(c)
		}
		if c == '\n' {
			number++
		}
		last = c
	}
	flush()
	return lines
}

// shellWords reads a value: bare, in either quotes, or an array of such. It is not ok when a shell would have to work it
// out, but for ~ and $HOME at the beginning.
func shellWords(text string) (words []string, ok bool) {
	text = strings.TrimSpace(text)
	if inside, isArray := strings.CutPrefix(text, "("); isArray {
		inside, isArray = strings.CutSuffix(inside, ")")
		if !isArray {
			return nil, false
		}
		text = inside
	}
	var b strings.Builder
	var quote rune
	begun, escaped := false, false
	for _, c := range text {
		switch {
		case escaped:
			b.WriteRune(c)
			escaped = false
		case c == '\\' && quote != '\'':
			escaped, begun = true, true
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '"' || c == '\''):
			quote, begun = c, true
		case quote == 0 && (c == ' ' || c == '\t' || c == '\n'):
			if begun {
				words = append(words, b.String())
			}
			b.Reset()
			begun = false
		default:
			if c == '`' && quote != '\'' || quote == 0 && strings.ContainsRune("&|<>()", c) {
				return nil, false
			}
			b.WriteRune(c)
			begun = true
		}
	}
	if begun {
		words = append(words, b.String())
	}
	for _, w := range words {
		path := strings.TrimSpace(strings.TrimPrefix(w, "-i"))
		if strings.Contains(homeFolder.ReplaceAllString(path, ""), "$") {
			return nil, false
		}
	}
	return words, quote == 0 && !escaped
}
