package site_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"mlframework/cmd/internal/site"
	"mlframework/config"
	"mlframework/infra/layout"
)

// The script leaves the check of host keys to ssh's own configuration, as the commands do; where
// that sets nothing, it takes new ones.
func TestHostKeysOfTheCleanScript(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	if err := os.Mkdir(filepath.Join(home, ".ssh"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ check, configured, want string }{
		{"", "", "accept-new"},
		{"", "StrictHostKeyChecking ask", ""},
		{"", "Host other\n\tStrictHostKeyChecking yes", "accept-new"},
		{"yes", "", "yes"},
		{"no", "StrictHostKeyChecking yes", "no"},
		{"accept-new", "StrictHostKeyChecking yes", "accept-new"},
	} {
		file := filepath.Join(home, ".ssh/config")
		if err := os.WriteFile(file, []byte(c.configured+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := site.ReadFrom(config.Source{File: filepath.Join(t.TempDir(), "cluster.yml"),
			NoFile: true, Flags: map[string]string{"hosts": "gpu1", "master": "1", "name": "c",
				"host-key-check": c.check}}, os.Stderr)
		if err != nil {
			t.Fatal(err)
		}
		script := string(s.CleanScript(layout.Record{Cluster: "c", Master: "gpu1"}))
		_, set, _ := strings.Cut(script, "StrictHostKeyChecking=")
		if set, _, _ = strings.Cut(set, "'"); set != c.want {
			t.Errorf("--host-key-check %q and %q in ssh's configuration: ssh is told %q", c.check,
				c.configured, set)
		}
	}
}

// A host that left may have outputs of tasks: it is cleaned also where only the list has it.
func TestHostsOfTheCleanScript(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, listed, recorded, want string }{
		{"as listed", "gpu1,gpu2", "gpu1,gpu2", "gpu2 gpu1"},
		{"one that left", "gpu1,gpu2,gpu3", "gpu1,gpu2", "gpu2 gpu3 gpu1"},
		{"one that nobody listed here", "gpu1", "gpu1,gpu2", "gpu2 gpu1"},
	} {
		s, err := site.ReadFrom(config.Source{File: filepath.Join(t.TempDir(), "cluster.yml"),
			NoFile: true, Flags: map[string]string{"hosts": c.listed, "master": "1", "workers": "1",
				"name": "c"}}, os.Stderr)
		if err != nil {
			t.Fatal(err)
		}
		r := layout.Record{Cluster: "c", Master: "gpu1"}
		for _, h := range strings.Split(c.recorded, ",") {
			r.Hosts = append(r.Hosts, layout.RecordHost{Name: h, Address: h})
		}
		var hosts []string
		for _, m := range regexp.MustCompile(`host "\$1" '(.*?)' .*'--' '(.*)'`).
			FindAllStringSubmatch(string(s.CleanScript(r)), -1) {
			hosts = append(hosts, m[1])
			if m[1] != m[2] {
				t.Errorf("%s: %s is reached as %s", c.name, m[1], m[2])
			}
		}
		if got := strings.Join(hosts, " "); got != c.want {
			t.Errorf("%s: %s, not %s", c.name, got, c.want)
		}
	}
}
