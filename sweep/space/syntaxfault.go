package space

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"mlframework/sweep/fault"
)

// syntaxFault puts the parser's error into our words and finds its line.
func syntaxFault(text string, err error) *fault.Fault {
	message, line := parserLine(text, err)
	line, _ = newPlaces(text).of(line, 1)
	f := &fault.Fault{Line: line, Problem: "not YAML: " + message, Remedy: syntaxRemedies[message]}
	if f.Remedy == "" {
		f.Remedy = "look at the quotes, brackets and indentation there"
	}
	if name, ok := strings.CutPrefix(message, "unknown anchor '"); ok {
		name, _, _ = strings.Cut(name, "'")
		f.Problem = "not YAML: *" + name + " stands for nothing before it"
		f.Remedy = "write &" + name + " before the value it stands for, or put it in quotes"
		if at := strings.Index(text, "*"+name); at >= 0 {
			f.Line, f.Column = newPlaces(text[:at]).end()
		}
		return f
	}
	if span, column := intervalIn(text, line); span != "" && strings.Contains(message, "expected ','") {
		f.Column = column
		f.Problem = "not YAML: an interval without a tag is only read as the value of a parameter"
		f.Remedy = "write !interval " + strings.TrimSuffix(span, ")") + "]"
		return f
	}
	tab := tabLine(text, line)
	if tab > 0 && (strings.Contains(message, "tab character") || tab == line && strings.Contains(message, "start any token")) {
		f.Line, f.Column = tab, 1
		f.Problem, f.Remedy = "not YAML: the line is indented with a tab", "use spaces"
	}
	return f
}

// syntaxRemedies has a way out for the parser's common messages.
var syntaxRemedies = map[string]string{
	"did not find expected ',' or ']'":                             "close the list that begins here with ]",
	"did not find expected ',' or '}'":                             "close the mapping that begins here with }",
	"did not find expected key":                                    "write KEY: VALUE, as far to the right as the lines before; text with quotes inside needs quotes around all of it",
	"did not find expected <document start>":                       "write KEY: VALUE, as far to the right as the lines before",
	"did not find expected '-' indicator":                          "begin every element with -, as far to the right as the one before",
	"did not find expected node content":                           "put the value in quotes",
	"could not find expected ':'":                                  "write KEY: VALUE",
	"mapping values are not allowed in this context":               "put a value with a colon in quotes; write keys below each other, equally far to the right",
	"found character that cannot start any token":                  "put the value in quotes",
	"found unexpected end of stream":                               "close the quotes that begin here",
	"block sequence entries are not allowed in this context":       "write the - on a line of its own, or use [a, b]",
	"found unknown escape character":                               `use single quotes, or write \\ for a backslash`,
	"did not find expected alphabetic or numeric character":        "put the value in quotes",
	"found undefined tag handle":                                   "put the value in quotes",
	"found a tab character where an indentation space is expected": "use spaces",
	"did not find expected whitespace or line break":               "put the value in quotes",
	"did not find expected comment or line break":                  "put the value in quotes",
	"found unexpected document indicator":                          "close the quotes that begin here",
	"did not find expected hexdecimal number":                      `use single quotes, or write \\ for a backslash`,
}

// parserLine finds the line of an error. The parser reports where the construct around it begins, unless that is the
// first line of its input: then it reports the error itself. For what was opened and not closed we want the former, so
// an empty line goes before the text; for keys the latter, so what stands before the first key is taken away. Its
// grammar (unlike its scanner) counts from 0.
func parserLine(text string, err error) (message string, line int) {
	message, _ = splitLine(err)
	before := -1
	shifted := "\n" + text
	switch message {
	case "did not find expected key", "found a tab character that violates indentation":
		before = leadingLines(text)
		shifted = strings.Join(strings.SplitAfter(text, "\n")[before:], "")
	}
	if _, again := parse(shifted); again != nil {
		if m, l := splitLine(again); m == message {
			return message, max(l+before, 1)
		}
	}
	_, line = splitLine(err)
	return message, line
}

var lineOfError = regexp.MustCompile(`^(?:yaml: )?(?:line (\d+): )?(.*)`)

// splitLine separates an error of the parser into its message and its line, counted from 1.
func splitLine(err error) (message string, line int) {
	m := lineOfError.FindStringSubmatch(err.Error())
	line, _ = strconv.Atoi(m[1])
	if strings.HasPrefix(m[2], "did not find expected ") && grammarMessage[strings.TrimPrefix(m[2], "did not find expected ")] {
		line++
	}
	return m[2], max(line, 1)
}

// grammarMessage has what the parser's grammar misses; the scanner's messages of the same beginning name other things.
var grammarMessage = map[string]bool{
	"<stream-start>": true, "<document start>": true, "node content": true, "'-' indicator": true, "key": true,
	"',' or ']'": true, "',' or '}'": true,
}

// leadingLines counts the lines before the first that is content.
func leadingLines(text string) int {
	n := 0
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line != "" && line != "---" && !strings.HasPrefix(line, "#") {
			return n
		}
		n++
	}
	return 0
}

var intervalText = regexp.MustCompile(`\[[^\[\]()"'#,]*,[^\[\]()"'#]*\)`)

// intervalIn finds "[start, end)" in a line, and its column.
func intervalIn(text string, line int) (span string, column int) {
	lines := lineEnd.Split(text, -1)
	if line < 1 || line > len(lines) {
		return "", 0
	}
	at := intervalText.FindStringIndex(lines[line-1])
	if at == nil || strings.Count(lines[line-1][:at[0]], `"`)%2 > 0 {
		return "", 0
	}
	return lines[line-1][at[0]:at[1]], utf8.RuneCountInString(lines[line-1][:at[0]]) + 1
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
