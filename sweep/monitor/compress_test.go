package monitor_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"testing"

	"mlframework/sweep/monitor"
)

// Pages and assets are compressed for browsers that read that, and for no other.
func TestCompression(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	v := s.enter(monitor.Viewer)
	for _, path := range []string{"/sweeps", "/assets/live.js"} {
		for accepted, want := range map[string]string{"gzip": "gzip", "br, GZIP;q=0.5": "gzip",
			"gzip;q=0": "", "br": "", "identity": ""} {
			p := v.get(path, func(r *http.Request) { r.Header.Set("Accept-Encoding", accepted) })
			if got := p.header.Get("Content-Encoding"); got != want {
				t.Errorf("%s, %s: %q", path, accepted, got)
			}
			if want == "" {
				continue
			}
			unpacked, err := gzip.NewReader(strings.NewReader(p.text))
			s.must(err)
			text, err := io.ReadAll(unpacked)
			s.must(err)
			if plain := v.get(path).text; len(text) <= len(p.text) || len(plain) != len(text) {
				t.Errorf("%s: %d bytes, unpacked %d of %d", path, len(p.text), len(text), len(plain))
			}
		}
	}
}
