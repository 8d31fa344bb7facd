package metric

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// Rules are compiled rules. The zero value finds only JSON lines. Safe for concurrent use.
type Rules struct {
	takes     map[string]Take
	rules     []compiled
	literals  [][]byte // a line with none of them matches no rule
	everyLine bool     // some rule has no literal: every line must be tried
	ofOutput  bool
}

type compiled struct {
	name    string
	pattern *regexp.Regexp
	group   int
	step    int    // the group of the step; -1: there is none
	literal []byte // part of every match; empty if there is none
}

// Compile checks the rules and makes them ready. Its error joins a [*RuleError] for every rule that
// is wrong.
func Compile(rules []Rule) (*Rules, error) {
	out := &Rules{}
	var errs []error
	seen := map[string]bool{}
	for _, r := range rules {
		c, wrong := compile(r)
		if wrong == nil && !r.Take.known() {
			wrong = &RuleError{r, fmt.Sprintf("takes %q", string(r.Take)),
				"write last, max, min or first"}
		}
		if wrong == nil && seen[r.Name] {
			wrong = &RuleError{r, "is named twice", "join the patterns with | or name them apart"}
		}
		if wrong != nil {
			errs = append(errs, wrong)
			continue
		}
		seen[r.Name] = true
		out.ofOutput = out.ofOutput || r.File == ""
		if r.Take != "" {
			if out.takes == nil {
				out.takes = map[string]Take{}
			}
			out.takes[r.Name] = r.Take
		}
		if r.Pattern != "" {
			out.add(c)
		}
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return out, nil
}

// Take returns which value of a metric is final: "" unless its rule says so.
func (r *Rules) Take(name string) Take {
	if r == nil {
		return ""
	}
	return r.takes[name]
}

// OfOutput reports whether a rule is for what a program prints, and not for a file.
func (r *Rules) OfOutput() bool { return r.ofOutput }

func (r *Rules) add(c compiled) {
	r.rules = append(r.rules, c)
	if len(c.literal) == 0 {
		r.everyLine = true
		return
	}
	r.literals = append(r.literals, c.literal)
}

func compile(r Rule) (compiled, *RuleError) {
	if r.Name == "" {
		return compiled{}, &RuleError{r, "has no name", "name what the number is, such as accuracy"}
	}
	if len(r.Name) > MaxName {
		return compiled{}, &RuleError{r, fmt.Sprintf("its name is longer than %d bytes", MaxName),
			"shorten it"}
	}
	if r.File != "" {
		return compiled{}, checkFile(r)
	}
	if r.Pattern == "" && r.Take != "" {
		return compiled{}, nil
	}
	re, err := regexp.Compile(r.Pattern)
	if err != nil {
		problem := strings.TrimPrefix(err.Error(), "error parsing regexp: ")
		return compiled{}, &RuleError{r, problem, "write a regular expression as in Go (RE2)"}
	}
	if re.NumSubexp() == 0 {
		remedy := "put the number in parentheses, such as 'accuracy: ([-+0-9.eE]+)'"
		return compiled{}, &RuleError{r, "its pattern has no group", remedy}
	}
	value, step := Groups(re)
	if value < 0 {
		return compiled{}, &RuleError{r, "its pattern has no group for the number",
			"name it: (?P<value>[-+0-9.eE]+)"}
	}
	return compiled{r.Name, re, value, step, literalOf(r.Pattern)}, nil
}

// Groups returns which groups of a pattern match the number and the step, or -1: those named
// "value" and "step", and without the former the first other than "step".
func Groups(pattern *regexp.Regexp) (value, step int) {
	value, step = pattern.SubexpIndex("value"), pattern.SubexpIndex("step")
	for group := 1; value < 0 && group <= pattern.NumSubexp(); group++ {
		if group != step {
			value = group
		}
	}
	return value, step
}

// literalOf returns the longest text that every match of the pattern must contain, or nothing.
// Looking for it in whole blocks of output is some twenty times faster than trying the expression
// on each line.
func literalOf(pattern string) []byte {
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil
	}
	literal := required(parsed.Simplify())
	// Invalid bytes match U+FFFD without holding its encoding; a line holds no line ends.
	if strings.ContainsAny(literal, "\r\n\x1b") || strings.ContainsRune(literal, utf8.RuneError) {
		return nil
	}
	return []byte(literal)
}

func required(re *syntax.Regexp) string {
	switch re.Op {
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase == 0 {
			return string(re.Rune)
		}
	case syntax.OpCapture, syntax.OpPlus:
		return required(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return required(re.Sub[0])
		}
	case syntax.OpConcat:
		longest := ""
		for _, sub := range re.Sub {
			if s := required(sub); len(s) > len(longest) {
				longest = s
			}
		}
		return longest
	}
	return ""
}
