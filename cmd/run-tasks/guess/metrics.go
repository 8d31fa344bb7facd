package guess

import (
	"regexp"
	"slices"
	"strings"
)

// Metric is a number that a program prints.
type Metric struct {
	Name    string
	Pattern string // the regular expression that finds it; "": it is in lines of JSON
	Maximum bool   // larger is better
}

var (
	jsonMetrics = regexp.MustCompile(`["']metrics["']\s*:\s*\{([^{}]*)\}`)
	jsonName    = regexp.MustCompile(`["'](\w+)["']\s*:`)
	// NAME: {value}, NAME=%.4f, or text "NAME:" that is followed by a comma and what is printed.
	printed = regexp.MustCompile(`([A-Za-z][\w/]*(?: [A-Za-z][\w/]*)?)(\s*[:=]\s*|\s+)` +
		`(?:\{[^{}]*\}|%[-+\d.]*[defg])`)
	spoken = regexp.MustCompile(`([A-Za-z][\w/]*(?: [A-Za-z][\w/]*)?)(\s*[:=]?\s*)$`)
	larger = regexp.MustCompile(`(?i)(^|[_/ ])(acc|accuracy|f1|auc|bleu|rouge|reward|return|psnr|` +
		`precision|recall|map|iou|miou|dice|top1|score)$`)
	smaller = regexp.MustCompile(`(?i)(^|[_/ ])(loss|error|err|ppl|perplexity|mse|mae|rmse|nll|elbo|` +
		`wer|cer|fid|bpb|bpc)$`)
	checked = regexp.MustCompile(`(?i)^(val|valid|validation|test|eval|dev)`)
	printer = regexp.MustCompile(`\bprint\s*\(|\blog(?:ger|ging)?\.info\s*\(`)
	escape  = regexp.MustCompile(`\\[a-z]`)
)

// metricsOf returns the metrics that a program prints in literal text, the best to rank by first.
func metricsOf(s source) (metrics []Metric) {
	add := func(name, pattern string) {
		m := Metric{Name: strings.NewReplacer(" ", "_", "/", "_").Replace(strings.ToLower(name)),
			Pattern: pattern, Maximum: larger.MatchString(name)}
		if (m.Maximum || smaller.MatchString(name)) &&
			!slices.ContainsFunc(metrics, func(o Metric) bool { return o.Name == m.Name }) {
			metrics = append(metrics, m)
		}
	}
	for _, m := range jsonMetrics.FindAllStringSubmatch(s.text, -1) {
		for _, name := range jsonName.FindAllStringSubmatch(m[1], -1) {
			add(name[1], "")
		}
	}
	if len(metrics) == 0 {
		for _, at := range printer.FindAllStringIndex(s.mask, -1) {
			elements := s.elements(at[1])
			for i, e := range elements {
				printedIn(s.text[e.start:e.end], i+1 < len(elements), add)
			}
		}
	}
	slices.SortStableFunc(metrics, func(a, b Metric) int { return a.rank() - b.rank() })
	return metrics
}

// printedIn adds the metrics in an argument of print. Followed reports that another follows it.
func printedIn(text string, followed bool, add func(name, pattern string)) {
	quote := strings.IndexAny(text, `"'`)
	if quote < 0 || quote > 2 {
		return
	}
	text = escape.ReplaceAllString(text, "  ")
	for _, m := range printed.FindAllStringSubmatch(text[quote:], -1) {
		add(m[1], pattern(m[1], m[2]))
	}
	if last := strings.TrimRight(text, `"'`); followed && len(last) < len(text) {
		if m := spoken.FindStringSubmatch(last[quote:]); m != nil {
			add(m[1], pattern(m[1], m[2]))
		}
	}
}

// pattern matches a name, what stands between it and the number, and the number.
func pattern(name, between string) string {
	sign := strings.TrimSpace(between)
	if sign == "" {
		return `\b` + name + `\s+([-+.\w]+)`
	}
	return `\b` + name + `\s*` + sign + `\s*([-+.\w]+)`
}

func (m *Metric) rank() int {
	rank := 0
	if !checked.MatchString(m.Name) {
		rank += 2
	}
	if !m.Maximum {
		rank++
	}
	if strings.HasPrefix(m.Name, "train") {
		rank += 4
	}
	return rank
}
