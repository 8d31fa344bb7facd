package yamlfile

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"

	"mlframework/sweep/fault"
)

// SyntaxFault returns what an error of the parser says of a text: the line, the cause and the way
// out.
func SyntaxFault(text string, err error) *fault.Fault {
	message, line := splitLine(err)
	line = badLine(text, line)
	f := &fault.Fault{Line: line, Problem: "not YAML: " + cmp.Or(causes[message], message),
		Remedy: syntaxRemedies[message]}
	if f.Remedy == "" {
		f.Remedy = "look at the quotes, brackets and indentation there"
	}
	if name, ok := strings.CutPrefix(message, "unknown anchor '"); ok {
		name, _, _ = strings.Cut(name, "'")
		f.Problem = "not YAML: *" + name + " stands for nothing before it"
		f.Remedy = "write &" + name + " before the value it stands for, or put it in quotes"
		if at := unknownAlias(text, name); at >= 0 {
			f.Line, f.Column = NewPlaces(text[:at]).End()
		}
		return f
	}
	tab := tabLine(text, line)
	if tab > 0 && (strings.Contains(message, "tab character") || tab == line &&
		strings.Contains(message, "start any token")) {
		f.Line, f.Column = tab, 1
		f.Problem, f.Remedy = "not YAML: the line is indented with a tab", "use spaces"
	}
	return f
}

// causes has plain words for messages of the parser that name what it does, not what a person
// wrote.
var causes = map[string]string{
	"did not find expected alphabetic or numeric character": "a value begins with * or &, which " +
		"YAML keeps for aliases",
	"found character that cannot start any token": "a value begins with a character that YAML " +
		"keeps for itself",
	"found unknown escape character": "a backslash in double quotes begins an " +
		"escape that YAML does not know",
	"mapping values are not allowed in this context": `a second ": " stands in the line, or the ` +
		`line is indented too far`,
}

// syntaxRemedies has a way out for the parser's common messages.
var syntaxRemedies = map[string]string{
	"did not find expected ',' or ']'": "close the list that begins here " +
		"with ]",
	"did not find expected ',' or '}'": "close the mapping that begins " +
		"here with }",
	"did not find expected key": "write KEY: VALUE, as far to the " +
		"right as the lines before; text with quotes inside needs quotes around all of it",
	"did not find expected <document start>": "write KEY: VALUE, as far to the " +
		"right as the lines before",
	"did not find expected '-' indicator": "begin every element with -, as " +
		"far to the right as the one before",
	"did not find expected node content": "put the value in quotes",
	"could not find expected ':'":        "write KEY: VALUE",
	"mapping values are not allowed in this context": "put a value with a colon in " +
		"quotes; write keys below each other, equally far to the right",
	"found character that cannot start any token": "put the value in quotes",
	"found unexpected end of stream":              "close the quotes that begin here",
	"block sequence entries are not allowed in this context": "write the - on a line of its own, " +
		"or use [a, b]",
	"found unknown escape character": `use single quotes, as in ` +
		`'loss: ([0-9.]+)\s', or write \\ for a backslash`,
	"did not find expected alphabetic or numeric character":        "put the value in quotes",
	"found undefined tag handle":                                   "put the value in quotes",
	"found a tab character where an indentation space is expected": "use spaces",
	"did not find expected whitespace or line break":               "put the value in quotes",
	"did not find expected comment or line break":                  "put the value in quotes",
	"found unexpected document indicator": "close the quotes that begin " +
		"here",
	"did not find expected hexdecimal number": `use single quotes, or write \\ for a backslash`,
}

// badLine returns the line after the longest beginning of a text that is YAML. There a bracket was
// opened and not closed, or the indentation is wrong. The parser itself names the start of what it
// was in, often one line too early. Of long texts the parser's line is returned, after parsing
// mostParsed in all.
func badLine(text string, parsers int) int {
	rest := text
	for parsed := 0; parsed < mostParsed; parsed += len(rest) {
		end := strings.LastIndexAny(strings.TrimSuffix(strings.TrimSuffix(rest, "\n"), "\r"),
			"\r\n")
		rest = rest[:end+1]
		if _, err := Parse(rest, mostDocuments); err == nil {
			line, _ := NewPlaces(rest).End()
			return line
		}
	}
	line, _ := NewPlaces(text).Of(parsers, 1)
	return line
}

// unknownAlias returns where the alias is at which the parser ended, as nothing before it has its
// name: it is the one that the parser names otherwise when its name is another. Comments, quoted
// texts and longer names have the same characters. It returns -1 when it was not found after
// parsing mostParsed in all.
func unknownAlias(text, name string) int {
	other := name + "0"
	for strings.Contains(text, other) {
		other += "0"
	}
	from, parsed := 0, 0
	for parsed < mostParsed {
		next := strings.Index(text[from:], "*"+name)
		if next < 0 {
			break
		}
		at := from + next
		from = at + len("*"+name)
		_, err := Parse(text[:at]+"*"+other+text[from:], mostDocuments)
		if err != nil && strings.Contains(err.Error(), "unknown anchor '"+other+"'") {
			return at
		}
		parsed += len(text)
	}
	return -1
}

const (
	mostDocuments = 3       // that a text may have before its end is not looked at
	mostParsed    = 2 << 20 // bytes, to find the place of one fault
)

var lineOfError = regexp.MustCompile(`^(?:yaml: )?(?:line (\d+): )?(.*)`)

// splitLine separates an error of the parser into its message and its line, which it does not tell
// of the first.
func splitLine(err error) (message string, line int) {
	m := lineOfError.FindStringSubmatch(err.Error())
	line, _ = strconv.Atoi(m[1])
	return m[2], max(line, 1)
}

// tabLine is the first line from the given one on that is indented with a tab, or 0.
func tabLine(text string, from int) int {
	n := 0
	for line := range strings.Lines(text) {
		if n++; n < from {
			continue
		}
		indent := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
		if strings.Contains(indent, "\t") {
			return n
		}
	}
	return 0
}
