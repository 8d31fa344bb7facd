package display_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mlframework/cmd/run-tasks/display"
)

// TestLastStates writes lines with carriage returns to a file, in two pieces.
func TestLastStates(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 200_000)
	for text, want := range map[string]string{
		"":                          "",
		"a\nb\n":                    "a\nb\n",
		"no end":                    "no end",
		"\r 0%\r 50%\r100%\ndone\n": "100%\ndone\n",
		"a\n 0%\r 50%\r":            "a\n 50%",
		"windows\r\nlines\r\n":      "windows\r\nlines\r\n",
		"\r\r\n1%\r\r2%\r\n":        "\r\n2%\r\n",
		"a\r\n\nb\rc\n":             "a\r\n\nc\n",
		long + "\n" + long:          long + "\n" + long,
	} {
		for cut := 0; cut <= len(text); cut += 1 + cut/8 {
			f, err := os.Create(filepath.Join(t.TempDir(), "out"))
			if err != nil {
				t.Fatal(err)
			}
			w := display.Visibly(f)
			for _, piece := range []string{text[:cut], text[cut:]} {
				if n, err := w.Write([]byte(piece)); n != len(piece) || err != nil {
					t.Fatal(n, err)
				}
			}
			if err := w.Flush(); err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(f.Name())
			if err != nil || f.Close() != nil {
				t.Fatal(err)
			}
			if string(got) != want {
				t.Errorf("%.80q cut at %d: %.80q, want %.80q", text, cut, got, want)
			}
		}
	}
}
