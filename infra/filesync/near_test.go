package filesync_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A link comes where its target cannot lead out, whatever other links, folders and fetches do to
// the way there.
func TestFetchedLinksStayInTheirTask(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		offers []string // one fetch each
		want   []string // links that are there in the end
	}{
		"beside":         {[]string{"d 0\nf 0/a\nl 0/l -> a"}, []string{"0/l"}},
		"up to the task": {[]string{"d 0\nd 0/d\nl 0/d/l -> .."}, []string{"0/d/l"}},
		"up and down": {[]string{"d 0\nd 0/d\nd 0/e\nl 0/d/l -> ./../e//x"},
			[]string{"0/d/l"}},
		"through a link": {[]string{"d 0\nd 0/d\nl 0/d/up -> ..\nl 0/l -> d/up/d"},
			[]string{"0/d/up", "0/l"}},
		"nowhere":   {[]string{"d 0\nl 0/l -> no/such"}, []string{"0/l"}},
		"to itself": {[]string{"d 0\nl 0/l -> l"}, []string{"0/l"}},
		"out":       {[]string{"d 0\nd 1\nl 0/l -> ../1"}, nil},
		"absolute":  {[]string{"d 0\nl 0/l -> /etc/hosts"}, nil},
		"a folder that is a link": {[]string{"d 0\nd 0/y\nl 0/y -> s/s/s/s\nl 0/x -> y/../../.."},
			nil},
		"a link that is a folder": {[]string{"d 0\nl 0/y -> s/s/s/s\nd 0/y\nl 0/x -> y/../../.."},
			nil},
		"a link that comes later": {[]string{"d 0\nd 0/z\nl 0/x -> y/y/y/z/../../..",
			"d 0\nl 0/y -> ."}, []string{"0/y"}},
		"a link that came earlier": {[]string{"d 0\nl 0/y -> .",
			"d 0\nl 0/x -> y/y/y/z/../../../.."}, []string{"0/y"}},
		"a name and back": {[]string{"d 0\nd 0/d\nl 0/l -> d/../a"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for i, offer := range c.offers {
				done, err := offers(t, dir, offer)
				if err != nil && !strings.Contains(err.Error(), "offers") {
					t.Errorf("fetch %d: %+v, %v", i, done, err)
				}
				for _, s := range done.Skipped {
					if !strings.Contains(s.Why, "may lead out of the task's folder") {
						t.Errorf("%+v", s)
					}
				}
			}
			within(t, dir)
			var links []string
			for _, task := range []string{"0", "1"} {
				for name, what := range look(t, filepath.Join(dir, "run-1")) {
					if strings.HasPrefix(what, "-> ") && strings.HasPrefix(name, task+"/") {
						links = append(links, name)
					}
				}
			}
			if diff := cmp.Diff(c.want, slices.Sorted(slices.Values(links))); diff != "" {
				t.Error(diff)
			}
		})
	}
}
