package main

import (
	"strings"
	"testing"
	"time"

	"mlframework/infra"
	"mlframework/infra/filesync"
)

func TestTold(t *testing.T) {
	t.Parallel()
	got := func(host string, made bool, files int, bytes int64) infra.Pushed {
		return infra.Pushed{Host: host, Pushed: filesync.Pushed{Made: made, Files: files,
			Bytes: bytes}, Took: 240 * time.Millisecond}
	}
	for name, c := range map[string]struct {
		done []infra.Pushed
		want string
	}{
		"a change": {[]infra.Pushed{got("gpu1", true, 1, 999), got("gpu2", true, 0, 0), got("gpu3", false, 0, 0), got("gpu4", true, 12, 1500), got("gpu5", true, 2, 53_000_000)}, `gpu1      got 1 file, 999 bytes               0.2s
gpu2      had all contents                    0.2s
gpu3      has it already                      0.2s
gpu4      got 12 files, 1.5 kB                0.2s
gpu5      got 2 files, 53.0 MB                0.2s
revision 0123456789abcdef: sweeps that you submit now run it
`},
		"no change": {[]infra.Pushed{got("gpu1", false, 0, 0)}, `gpu1      has it already                      0.2s
nothing changed: revision 0123456789abcdef
`},
	} {
		if text := told("0123456789abcdef", c.done); text != c.want {
			t.Errorf("%s:\n%s", name, text)
		}
	}
}

// The names of hosts are what the master's host says.
func TestHostileNamesAreShownAsTheyAre(t *testing.T) {
	t.Parallel()
	text := told("0123456789abcdef", []infra.Pushed{{Host: "gpu1\x1b[2J\r\u202e"}})
	if !strings.Contains(text, `gpu1\x1b[2J\r`) || strings.ContainsAny(text, "\x1b\r\u202e") {
		t.Errorf("%q", text)
	}
}
