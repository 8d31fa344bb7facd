package monitor_test

import (
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// colours returns the colours of a theme: what the style sheet sets in its nth :root.
func colours(t *testing.T, n int) map[string]float64 {
	t.Helper()
	css, err := os.ReadFile("assets/monitor.css")
	if err != nil {
		t.Fatal(err)
	}
	root, _, _ := strings.Cut(strings.Split(string(css), ":root {")[n], "}")
	all := map[string]float64{}
	for _, m := range regexp.MustCompile(`--([a-z-]+): #([0-9a-f]{6});`).FindAllStringSubmatch(root,
		-1) {
		v, _ := strconv.ParseUint(m[2], 16, 32)
		all[m[1]] = .2126*linear(v>>16) + .7152*linear(v>>8&255) + .0722*linear(v&255)
	}
	return all
}

// linear returns the light of a channel of sRGB, as WCAG 2 defines relative luminance.
func linear(channel uint64) float64 {
	v := float64(channel) / 255
	if v <= .04045 {
		return v / 12.92
	}
	return math.Pow((v+.055)/1.055, 2.4)
}

// Text has the contrast of WCAG 2 AA, in both themes, wherever it stands.
func TestContrast(t *testing.T) {
	t.Parallel()
	for n, theme := range map[int]string{1: "light", 2: "dark"} {
		all := colours(t, n)
		for _, text := range []string{"text", "quiet", "link", "succeeded", "running", "failed",
			"timeout", "oom", "lost"} {
			for _, ground := range []string{"page", "card", "hover"} {
				a, b := all[text], all[ground]
				if ratio := (max(a, b) + .05) / (min(a, b) + .05); ratio < 4.5 {
					t.Errorf("%s: %s on %s has %.2f:1", theme, text, ground, ratio)
				}
			}
		}
	}
}
