package space_test

import (
	"strings"
	"testing"

	"mlframework/sweep/space"
)

// A file with millions of values is refused at once, and the refusal says what to write instead.
func TestReadHugeFile(t *testing.T) {
	t.Parallel()
	text := "i: [" + strings.Repeat("1234567, ", 2_000_000) + "1]\n"
	_, _, err := space.Read("parameters.yml", []byte(text))
	const want = "parameters.yml:1:1: the file has 17 MB, and at most 16 MB are read; " +
		"write numbers as an interval: !interval [0, 3000000]"
	if err == nil || err.Error() != want {
		t.Errorf("%.300v", err)
	}
}
