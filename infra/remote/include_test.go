package remote_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mlframework/infra/remote"
)

// Of a file that another includes only the blocks drop out that are not understood, and what it
// says counts where it is included.
func TestIncludedFiles(t *testing.T) {
	const variable = "MLFRAMEWORK_TEST_INCLUDE"
	t.Setenv(variable, "v")
	const others = "Host *\n\tHostName 127.0.0.1\n\tPort 1\n"
	for name, c := range map[string]struct {
		files map[string]string // in ~/.ssh
		ports map[string]int    // of hosts
		warns []string          // what each warning says behind ~/.ssh/
	}{
		"a Match that is not understood": {
			files: map[string]string{"config": "Include c.d/*.conf\n" + others,
				"c.d/50-redhat.conf": "Match final all\n\tPort 9\n\tInclude gone\nHost a\n\tPort " +
					"2\n"},
			ports: map[string]int{"a": 2, "b": 1},
			warns: []string{"c.d/50-redhat.conf:1: "},
		},
		"a Match with two criteria": {
			files: map[string]string{"config": "Include ~/.ssh/m\n" + others,
				"m": "Match host a,b user root\n\tPort 2\nMatch host a,b\n\tPort 3\n"},
			ports: map[string]int{"a": 3, "b": 3, "user": 1, "root": 1},
			warns: []string{"m:1: "},
		},
		"below a host, and what stands behind it": {
			files: map[string]string{"config": "Host a b\n\tInclude \"in n\" # both\n\tPort 4\n" +
				others,
				"in n": "Host b c\n\tPort 5\n"},
			ports: map[string]int{"a": 4, "b": 5, "c": 1},
		},
		"several, nested, and one that is not there": {
			files: map[string]string{"config": "include = one two gone\n" + others,
				"one": "Host a\n\tPort 6\n", "two": "Host a\n\tPort 7\nHost *\n\tInclude three\n",
				"three": "Host b\n\tPort 8\n"},
			ports: map[string]int{"a": 6, "b": 8, "c": 1},
		},
		"hidden files": {
			files: map[string]string{"config": "Include c.d/* d.d/.*\n" + others,
				"c.d/.a.swp": "Host a\n\tPort 2\n", "c.d/a": "Host a\n\tPort 3\n",
				"d.d/.b": "Host b\n\tPort 4\n"},
			ports: map[string]int{"a": 3, "b": 4},
		},
		"tokens and variables": {
			files: map[string]string{"config": "Include %d/.ssh/one 100%% ${" + variable +
				"}/three\n" +
				"Include x.%h ${" + variable + "_NOT}/y\n" + others,
				"one": "Host a\n\tPort 2\n", "100%": "Host b\n\tPort 3\n",
				"v/three": "Host c\n\tPort 4\n"},
			ports: map[string]int{"a": 2, "b": 3, "c": 4, "d": 1},
			warns: []string{"config:2: ", "config:2: "},
		},
		"names in quotes": {
			files: map[string]string{"config": "Match host \"a,b\"\n\tPort 2\nHost \"c\" " +
				"d\n\tPort 3\n" +
				others},
			ports: map[string]int{"a": 2, "b": 2, "c": 3, "d": 3, "e": 1},
		},
		"one that cannot be read": {
			files: map[string]string{"config": "Include bad good\n" + others,
				"bad/x": "", "good": "Host a\n\tPort 3\n"},
			ports: map[string]int{"a": 3, "b": 1},
			warns: []string{"bad is not used: "},
		},
		"itself": {
			files: map[string]string{"config": "Host a\n\tPort 2\nHost *\nInclude config config\n" +
				others},
			ports: map[string]int{"a": 2, "b": 1},
			warns: []string{"config: includes are nested more than 16 deep"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			for name, text := range c.files {
				file := h.path(filepath.Join(".ssh", name))
				if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
					t.Fatal(err)
				}
				write(t, file, text)
			}
			d := remote.New(h.options())
			for host, port := range c.ports {
				_, err := d.Connect(t.Context(), remote.Target{Name: host})
				want := fmt.Sprintf("127.0.0.1:%d", port)
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%s: %v, want one of %s", host, err, want)
				}
			}
			warned := h.warn.all()
			if len(warned) != len(c.warns) {
				t.Fatalf("warnings: %q", warned)
			}
			for i, want := range c.warns {
				if !strings.Contains(warned[i], h.path(".ssh/"+want)) {
					t.Errorf("warning %q, want %q", warned[i], want)
				}
			}
		})
	}
}
