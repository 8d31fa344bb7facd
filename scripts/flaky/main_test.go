package main

import (
	"strings"
	"testing"
)

func TestReport(t *testing.T) {
	t.Parallel()
	const (
		failed = `{"Action":"run","Package":"p","Test":"TestA"}
			{"Action":"output","Package":"p","Test":"TestA","Output":"it SAYS\n"}
			{"Action":"fail","Package":"p","Test":"TestA"}
			{"Action":"output","Package":"p","Output":"FAIL\n"}
			{"Action":"fail","Package":"p"}
			`
		passed = `{"Action":"run","Package":"p","Test":"TestA"}
			{"Action":"output","Package":"p","Test":"TestA","Output":"fine now\n"}
			{"Action":"pass","Package":"p","Test":"TestA"}
			{"Action":"pass","Package":"p"}
			`
		flaky = "FLAKY: TestA in p failed, and passed when it was run again:\nit WORKS NOT\n\n"
	)
	says := func(events, text string) string { return strings.ReplaceAll(events, "SAYS", text) }
	for name, c := range map[string]struct{ events, want, err string }{
		"all passed":       {passed, "", ""},
		"passed later":     {says(failed, "WORKS NOT") + passed, flaky, ""},
		"failed again":     {failed + failed, "", "has not passed since"},
		"skipped later":    {failed + strings.ReplaceAll(passed, "pass", "skip"), "", "not passed"},
		"data race":        {says(failed, "\\nWARNING: DATA RACE") + passed, "", "DATA RACE"},
		"time limit":       {says(failed, "panic: test timed out") + passed, "", "panic: "},
		"leaked goroutine": {says(failed, "found unexpected goroutines") + passed, "", "unexpected"},
		"broken invariant": {says(failed, "3 violations of what is promised") + passed, "", "promised"},
		"crash":            {says(failed, "fatal error: all goroutines") + passed, "", "fatal error"},
		"no test failed": {`{"Action":"output","Package":"p","Output":"exit status 1\n"}
			{"Action":"fail","Package":"p"}` + passed, "", "none of its tests: exit status 1"},
		"not JSON": {"ok  p  0.1s", "", "read events"},
	} {
		var out strings.Builder
		err := report(&out, strings.NewReader(c.events))
		if got := out.String(); got != c.want && c.err == "" {
			t.Errorf("%s: it prints %q, want %q", name, got, c.want)
		}
		if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: error %v, want one with %q", name, err, c.err)
		}
	}
}
