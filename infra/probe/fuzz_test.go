package probe_test

import (
	"slices"
	"strings"
	"testing"

	"mlframework/infra/probe"
)

const answer = "os Linux\narch x86_64\nuser anna\nuid 1000\ngid 1000\nhome " +
	"/home/anna\ncores 8\nmemory 1024\nfree 1024\nroot /home/anna/ml\nmarker " +
	"{\"version\":1,\"cluster\":\"c\",\"owner\":\"anna\"}\nlistens 1F90\nholds 8080 nginx (pid " +
	"812)\nhas bash\ndone yes\n"

// What no host can have is not believed.
func TestAnswersThatCannotBe(t *testing.T) {
	t.Parallel()
	if f, err := probe.Parse(answer); err != nil || f.Cores != 8 || !slices.Equal(f.Listening,
		[]int{8080}) {
		t.Fatalf("%+v, %v", f, err)
	}
	for _, line := range []string{"uid -1", "gid -5", "cores 0", "cores -3",
		"memory -1", "listens -1F", "listens 10000", "holds 65536 x",
		"uid 1e3", "marker x", "uid 99999999999"} {
		f, err := probe.Parse(line + "\n" + answer)
		if err == nil || !strings.Contains(err.Error(), "what the host says of its "+
			strings.Fields(line)[0]) {
			t.Errorf("%q: %v, %+v", line, err, f)
		}
	}
}

// FuzzParse reads answers of anything: what is taken is something that a host can have, and what is
// not is told in words that a terminal shows as they are.
func FuzzParse(f *testing.F) {
	f.Add(answer)
	f.Add("done yes\n")
	f.Add("clock 99999999999999999\nhomekey a b\nclient ::1\nlacks setsid\nunwritable " +
		"/\nrevisions a b\nthere 3\nnoexec x\nbinaries a b\naddresses ::1 10.0.0.1\ndone")
	f.Fuzz(func(t *testing.T, out string) {
		facts, err := probe.Parse(out)
		if err != nil {
			if strings.ContainsFunc(err.Error(), func(c rune) bool {
				return c < ' ' && c != '\n' || c >= 0x7f && c < 0xa0
			}) {
				t.Errorf("%q", err)
			}
			return
		}
		if facts.UID < 0 || facts.GID < 0 || facts.Cores < 0 || facts.Memory < 0 {
			t.Errorf("%q: %+v", out, facts)
		}
		for _, port := range facts.Listening {
			if port < 0 || port > 65535 {
				t.Errorf("%q: port %d", out, port)
			}
		}
	})
}
