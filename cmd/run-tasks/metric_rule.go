package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"mlframework/sweep/metric"
)

// writtenRule is a metric as it is written in tasks.yml, with what to take.
func writtenRule(r metric.Rule, take metric.Take) string {
	switch {
	case r.File != "":
		what, name := "tag", r.Tag
		if r.Column != "" {
			what, name = "column", r.Column
		} else if r.Key != "" {
			what, name = "key", r.Key
		}
		return fmt.Sprintf("%s: {file: %s, %s: %s, take: %s}", scalar(r.Name), quoted(r.File), what,
			scalar(name), take)
	case r.Pattern == "":
		return fmt.Sprintf("%s: {take: %s}", scalar(r.Name), take)
	}
	return fmt.Sprintf("%s: {pattern: %s, take: %s}", scalar(r.Name), quoted(r.Pattern), take)
}

// bareText matches text that needs no quotes between braces in YAML.
var bareText = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_./-]*$`)

// reservedText matches text that stands for something else in YAML.
var reservedText = regexp.MustCompile(`(?i)^(true|false|yes|no|on|off|y|n|null)$`)

// scalar is a text in YAML between braces.
func scalar(text string) string {
	if bareText.MatchString(text) && !reservedText.MatchString(text) {
		return text
	}
	return quoted(text)
}

// quoted is a text in YAML: between single quotes, or where it has bytes that may not stand there,
// as in JSON.
func quoted(text string) string {
	if strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		b, _ := json.Marshal(text) // marshaling a string cannot fail
		return string(b)
	}
	return "'" + strings.ReplaceAll(text, "'", "''") + "'"
}
