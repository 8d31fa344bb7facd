package main

import (
	"testing"

	"gopkg.in/yaml.v3"

	"mlframework/sweep/metric"
)

// What a note says to write is YAML, whatever names it has.
func TestWrittenRule(t *testing.T) {
	t.Parallel()
	for _, odd := range []string{"acc", "a, b", "my: acc", "it's", "no", "{x}", "#1", "1",
		"tab\there", "val/acc", "-", ""} {
		text := "{" + writtenRule(metric.Rule{Name: odd + "x", File: odd + "*.csv",
			Column: odd + "c"}, metric.Max) + "}"
		var got map[string]map[string]string
		if err := yaml.Unmarshal([]byte(text), &got); err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if m := got[odd+"x"]; m["file"] != odd+"*.csv" || m["column"] != odd+"c" {
			t.Errorf("%s is read as %q", text, got)
		}
	}
	if got, want := scalar("no"), "'no'"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
