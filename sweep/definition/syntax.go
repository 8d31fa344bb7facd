package definition

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"mlframework/sweep/fault"
)

// parseDocuments returns the content of at most two documents: the second is one too many.
func parseDocuments(data []byte) (documents []*yaml.Node, err error) {
	defer func() {
		// The parser panics on some texts that it took apart wrongly ("please report").
		if p := recover(); p != nil {
			documents, err = nil, fmt.Errorf("yaml: %v", p)
		}
	}()
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	for len(documents) < 2 {
		var document yaml.Node
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if len(document.Content) > 0 {
			documents = append(documents, document.Content[0])
		}
	}
	return documents, nil
}

var parserLine = regexp.MustCompile(`^line (\d+): `)

// syntaxFault puts the parser's words for a text that is not YAML into ours.
func syntaxFault(file string, data []byte, err error) fault.Fault {
	words := strings.TrimPrefix(err.Error(), "yaml: ")
	line := 1 // the parser names no line for the first
	if m := parserLine.FindStringSubmatch(words); m != nil {
		line, _ = strconv.Atoi(m[1])
		words = words[len(m[0]):]
	}
	if exact, ok := firstBadLine(data); ok {
		line = exact
	}
	text := lineOf(data, line)
	problem, remedy := explain(words, text)
	return fault.Fault{File: file, Line: line, Problem: problem, Remedy: remedy}
}

// firstBadLine returns the line after the longest beginning of the text that is YAML: where a bracket was opened and
// not closed, or the first line with a wrong indentation. The parser itself names the start of whatever it was in,
// and that often one line too early. It gives up on long texts, after parsing 2 MiB in all.
func firstBadLine(data []byte) (int, bool) {
	for parsed := 0; parsed < 2<<20; parsed += len(data) {
		last := bytes.LastIndexByte(bytes.TrimSuffix(data, []byte("\n")), '\n')
		if last < 0 {
			return 1, true
		}
		data = data[:last+1]
		if _, err := parseDocuments(data); err == nil {
			return bytes.Count(data, []byte("\n")) + 1, true
		}
	}
	return 0, false
}

func lineOf(data []byte, line int) string {
	lines := strings.SplitN(string(data), "\n", line+1)
	if line > len(lines) {
		return ""
	}
	return lines[line-1]
}

// explain returns problem and remedy for the parser's words about a line.
func explain(words, line string) (problem, remedy string) {
	indent := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
	switch {
	case strings.Contains(indent, "\t"):
		return "a tab stands in the indentation", "indent with spaces"
	case strings.Contains(words, "found unknown escape character"):
		return "a backslash in double quotes begins an escape that YAML does not know",
			"put patterns in single quotes: 'loss: ([0-9.]+)\\s'"
	case strings.Contains(words, "cannot start any token"):
		return "a value begins with a character that YAML keeps for itself", `put the value in "quotes"`
	case strings.Contains(words, "unknown anchor"), strings.Contains(words, "alphabetic or numeric character"):
		return "a value begins with * or &, which YAML keeps for aliases", `put the value in "quotes"`
	case strings.Contains(words, "mapping values are not allowed"):
		return `a second ": " stands in the line, or the line is indented too far`,
			`put a value that holds ": " in "quotes"`
	}
	return "is not YAML: " + printable(words), ""
}
