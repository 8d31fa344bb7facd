package space

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"mlframework/internal/yamlfile"
	"mlframework/sweep/fault"
)

// mostDocuments is how many documents of a file are read: the third is there to be refused.
const mostDocuments = 3

// documentsOf parses the text. When it is not YAML, values such as [5,20,5) are quoted and it is
// parsed again. The fault has no file name.
func documentsOf(text string) ([]*yaml.Node, *fault.Fault) {
	if f := yamlfile.BadCharacter(text); f != nil {
		return nil, f
	}
	documents, err := yamlfile.Parse(text, mostDocuments)
	if err == nil {
		return documents, nil
	}
	if quoted := quoteIntervals(text); quoted != text {
		if documents, err = yamlfile.Parse(quoted, mostDocuments); err == nil {
			return documents, nil
		}
		text = quoted
	}
	return nil, spanFault(text, yamlfile.SyntaxFault(text, err))
}

// intervalLine is "key: [start, end)" on one line, with an anchor or a tag before the value or a
// comment after it. The key begins neither an element of a list nor a flow collection.
var intervalLine = regexp.MustCompile(`^( *)((?:"[^"]*"|'[^']*'|[^\s"'#\-\[\]{}&*!|>%@` + "`" +
	`,?][^#]*?)\s*:[ \t]+)((?:[&!]\S*[ \t]+)*)(\[[^\[\]()"'#]*\))([ \t]*|[ \t]+#.*)$`)

// quoteIntervals makes a tagged, quoted string of every parameter's value that is an interval
// without quotes. Lines keep their number, keys and values their column. What is indented deeper
// than the first key may be the inside of a text.
func quoteIntervals(text string) string {
	var b strings.Builder
	indent := firstIndent(text)
	for len(text) > 0 {
		end := strings.IndexAny(text, "\r\n")
		if end < 0 {
			end = len(text)
		}
		line := text[:end]
		if m := intervalLine.FindStringSubmatch(line); m != nil && len(m[1]) == indent {
			tag := "!interval "
			if strings.Contains(m[3], "!") {
				tag = ""
			}
			line = m[1] + m[2] + m[3] + tag + "'" + m[4] + "'" + m[5]
		}
		b.WriteString(line)
		rest := min(end+1, len(text))
		b.WriteString(text[end:rest])
		text = text[rest:]
	}
	return b.String()
}

// firstIndent returns the indentation of the first line that is content.
func firstIndent(text string) int {
	lines := strings.SplitAfter(text, "\n")
	first := lines[leadingLines(text)]
	return len(first) - len(strings.TrimLeft(first, " "))
}

// spanFault returns a fault of syntax, or the one that an interval where no parameter's value
// stands leads to.
func spanFault(text string, f *fault.Fault) *fault.Fault {
	span, column := intervalIn(text, f.Line)
	if span == "" || !strings.Contains(f.Problem, "expected ','") {
		return f
	}
	return &fault.Fault{Line: f.Line, Column: column,
		Problem: "not YAML: an interval without a tag is only read as the value of a parameter",
		Remedy:  "write !interval " + strings.TrimSuffix(span, ")") + "]"}
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
