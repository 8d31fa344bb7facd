package server_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"mlframework/sweep/api/server"
)

// Only so many large bodies are in memory at once; small ones are never in their way.
func TestLargeBodiesAreBounded(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := s.submit(1)
	free := s.server.FillBodies(time.Millisecond)
	pause := func(bytes int) (int, string, http.Header) {
		return s.raw(http.MethodPost, "/v1/sweeps/"+id+"/pause", strings.Repeat(" ", bytes))
	}
	if status, text, h := pause(1 << 20); status != http.StatusServiceUnavailable ||
		h.Get("Retry-After") != "1" || !strings.Contains(text, "too many large requests") {
		t.Errorf("%d %v %s", status, h, text)
	}
	if status, text, _ := pause(1 << 10); status != http.StatusOK {
		t.Errorf("a small one: %d %s", status, text)
	}
	free()
	// a request has its answer before its place is free
	withPlace := func(what string, bytes, want int) {
		for end := time.Now().Add(time.Minute); ; {
			status, text, _ := pause(bytes)
			if status == want {
				return
			}
			if status != http.StatusServiceUnavailable || time.Now().After(end) {
				t.Errorf("%s: %d %s", what, status, text)
				return
			}
		}
	}
	for range 3 { // each frees its place
		withPlace("with a place", 1<<20, http.StatusOK)
	}
	withPlace("too long", 16<<20+1, http.StatusRequestEntityTooLarge)
	withPlace("after one that was too long", 1<<20, http.StatusOK)
}

func TestMaxBody(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		most  int64
		bytes int
		why   string
	}{
		{0, 16 << 20, ""},
		{0, 16<<20 + 1, "longer than 16 MiB"},
		{17 << 20, 16<<20 + 1, ""},
		{17 << 20, 17<<20 + 1, "longer than 17 MiB"},
	} {
		err := server.ReadBody(c.most, strings.Repeat(" ", c.bytes))
		if (err == nil) != (c.why == "") || err != nil && !strings.Contains(err.Error(), c.why) {
			t.Errorf("%d of %d bytes: %v", c.bytes, c.most, err)
		}
	}
}
