package group_test

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

// table reads lines of numbers; those that begin with # say what they are.
func readTable(t *testing.T, path string) (lines [][]float64) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		var numbers []float64
		for word := range strings.FieldsSeq(line) {
			v, err := strconv.ParseFloat(word, 64)
			if err != nil {
				t.Fatal(err)
			}
			numbers = append(numbers, v)
		}
		lines = append(lines, numbers)
	}
	if len(lines) == 0 {
		t.Fatalf("%s has no numbers", path)
	}
	return lines
}
