package config

import (
	"maps"
	"regexp"
	"strings"

	"mlframework/sweep/fault"
)

// oldNames are the variables of config.sh and the options that they have become.
var oldNames = map[string]string{
	"REMOTE": "hosts", "KEY": "key", "REMOTE_PATH": "folder", "PROJ_FOLDER": "project",
	"START_MASTER": "master", "START_WORKER": "workers", "BROKER_ADDRESS": "master-address",
}

// The shell's grammar, as far as a file of assignments needs it.
const (
	shellQuoted  = `'[^']*'|"(?:[^"\\]|\\(?s:.))*"|\\(?s:.)`
	shellWord    = `(?:` + shellQuoted + "|[^\\s;#'\"\\\\()&|<>`]" + `#*)+`
	shellComment = `#[^\n]*`
	shellArray   = `\((?:\s|` + shellComment + `|` + shellWord + `)*\)`
)

var (
	shellBlank     = regexp.MustCompile(`^(?:[\s;]|` + shellComment + `)+`)
	shellStatement = regexp.MustCompile(`^(?:` + shellQuoted + `|[^\n;])+`)
	shellParts     = regexp.MustCompile(shellComment + `|` + shellWord)
	shellQuotes    = regexp.MustCompile(`'([^']*)'|"((?:[^"\\]|\\(?s:.))*)"|\\((?s:.))`)
	assignment     = regexp.MustCompile(
		`^(?:(?:export|readonly|declare(?:[ \t]+-\w+)*)[ \t]+)?([A-Za-z_][A-Za-z0-9_]*)=(` +
			shellArray + `|` + shellWord + `)?[ \t]*(?:[ \t]` + shellComment + `)?(?:[\n;]|$)`)
	backslash  = regexp.MustCompile(`\\((?s:.))`)
	assigned   = regexp.MustCompile(`^([A-Za-z_][A-Za-z0-9_]*)=((?s:.*))$`)
	homeFolder = regexp.MustCompile(`^(~|\$HOME|\$\{HOME\})(/|$)`)
)

// readShell reads config.sh of the old system as text. Nothing in it is run: what would need a
// shell to be understood is left out with a warning.
func readShell(file, text string) (map[string]value, fault.List) {
	values := map[string]value{}
	var warnings fault.List
	text = strings.ReplaceAll(text, "\r\n", "\n")
	for line, rest := 1, text; rest != ""; {
		warn := func(problem, remedy string) {
			warnings.Add(fault.Fault{File: file, Line: line, Problem: problem, Remedy: remedy})
		}
		end := len(shellBlank.FindString(rest))
		if m := assignment.FindStringSubmatch(rest); m != nil {
			end = len(m[0])
			words, ok := shellWords(m[2])
			switch name := oldNames[m[1]]; {
			case name == "":
				warn(fault.Printable(m[1])+" means nothing here", "")
			case !ok:
				warn(m[1]+" is not understood: "+fault.Printable(m[2]), "write a plain value")
			default: // the last assignment counts, also when it is empty
				v := value{kind: File, place: place{file, line, 0}, path: m[1]}
				values[name] = v.text(named(options, name).kind.list, oldValue(name, words))
			}
		} else if end == 0 {
			statement := shellStatement.FindString(rest)
			end = len(statement)
			statement = strings.TrimSpace(statement)
			if m := assigned.FindStringSubmatch(statement); m != nil && oldNames[m[1]] != "" {
				warn(m[1]+" is not understood: "+fault.Printable(m[2]), "write a plain value")
			} else {
				warn("is not understood: "+fault.Printable(statement),
					"only assignments are read, and nothing is run")
			}
		}
		line += strings.Count(rest[:end], "\n")
		rest = rest[end:]
	}
	maps.DeleteFunc(values, func(_ string, v value) bool { return len(v.words) == 0 })
	warnings.Add(fault.Fault{File: file, Problem: "of the old system was read",
		Remedy: "what it says is saved in " + FileName + ", and then it is not needed any more"})
	return values, warnings
}

// oldValue puts what the old system took into the form of today.
func oldValue(name string, words []string) string {
	text := strings.TrimSpace(strings.Join(words, " "))
	switch name {
	case "hosts", "workers": // spaces did for commas, and more than one comma for one
		return strings.Join(strings.FieldsFunc(text, func(c rune) bool {
			return strings.ContainsRune(", \t\n", c)
		}), ",")
	case "key":
		text = strings.TrimSpace(strings.TrimPrefix(text, "-i"))
		return homeFolder.ReplaceAllString(text, "~$2")
	case "folder":
		return strings.TrimSuffix(homeFolder.ReplaceAllString(text, ""), "/")
	}
	return text
}

// shellWords reads a value: a word, or an array of words. It is not ok when a shell would have to
// work it out, but for ~ and $HOME at the beginning.
func shellWords(text string) (words []string, ok bool) {
	if strings.HasPrefix(text, "(") {
		text = text[1 : len(text)-1]
	}
	for _, part := range shellParts.FindAllString(text, -1) {
		if part[0] == '#' {
			continue
		}
		word := shellQuotes.ReplaceAllStringFunc(part, func(q string) string {
			m := shellQuotes.FindStringSubmatch(q)
			return m[1] + backslash.ReplaceAllString(m[2], "$1") + m[3]
		})
		path := strings.TrimSpace(strings.TrimPrefix(word, "-i"))
		if strings.ContainsAny(homeFolder.ReplaceAllString(path, ""), "$`") {
			return nil, false
		}
		words = append(words, word)
	}
	return words, true
}
