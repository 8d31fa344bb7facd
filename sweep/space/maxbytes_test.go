package space_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"mlframework/sweep/space"
)

func TestMaxBytesIsAtLeastThatOfEveryPoint(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 1000)
	for name, text := range map[string]string{
		"short":     "a: [1, 2]\nb: x\n",
		"long":      fmt.Sprintf("a: [1, %s]\nb: [x, y]\n", long),
		"escaped":   "a: [1, \"" + strings.Repeat(`\u0001<\"`, 100) + "\"]\n",
		"interval":  "a: !interval [0, 1000000000000, 1]\nb: x\n",
		"long name": long + ": 1\n",
	} {
		s, _, err := space.Read("parameters.yml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		longest := 0
		for i := range min(s.Len(), 10) {
			n := 0
			for _, a := range s.Point(i) {
				for _, part := range []string{a.Name, a.Value} {
					form, err := json.Marshal(part)
					if err != nil {
						t.Fatal(err)
					}
					n += len(form) - len(`""`)
				}
			}
			longest = max(longest, n)
		}
		if n := s.MaxBytes(); n < longest || n > longest+200 {
			t.Errorf("%s: %d bytes at most, and a point has %d", name, n, longest)
		}
	}
}
