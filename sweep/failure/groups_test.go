package failure_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/failure"
)

func TestAlike(t *testing.T) {
	t.Parallel()
	for want, reasons := range map[string][]string{
		"exit code 1: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate …. GPU … has " +
			"a total capacity of …": {
			"exit code 1: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 " +
				"GiB. GPU 0 has a total capacity of 23.64 GiB",
			"exit code 1: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 512.00 " +
				"MiB. GPU 3 has a total capacity of 23.64 GiB",
			"exit code 1: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 12345678 " +
				"bytes. GPU 3 has a total capacity of 80GB",
		},
		"exit code 2: no":                {"exit code 2: no"},
		"exit code 1: KeyError: 'LSTMM'": {"exit code 1: KeyError: 'LSTMM'"},
		"exit code 1: AssertionError (train.py:…: assert loss < …)": {"exit code 1: " +
			"AssertionError (train.py:41: assert loss < 10)",
			"exit code 1: AssertionError (train.py:7: assert loss < 0.5)"},
		"exit code 1: KeyError: …": {"exit code 1: KeyError: 17",
			"exit code 1: KeyError: 4", "exit code 1: KeyError: -3", "exit code 1: KeyError: 1e-05",
			"exit code 1: KeyError: 2.5e+3"},
		"no file '…'": {"no file '/tmp/tmpab12cd34/x.pt'", "no file './x'",
			"no file 'outputs/train-1/3/x'", "no file 'C:\\x\\y'", "no file 'data.d/x.csv'"},
		"at …: bad": {"at https://example.org/a?b: bad", "at /p/train.py:12: bad",
			"at ../x/y:3:4: bad"},
		"object at … is gone": {"object at 0x7f00deadbeef " +
			"is gone", "object at 0x1 is gone"},
		"GPU-… fell off the bus": {"GPU-5b3c2a1f-1111-2222-3333-0123456789ab fell off the bus",
			"GPU-ab3c2a1f-11a1-2e22-33f3-a123456789ab fell off the bus"},
		"name … of …": {"name tmpab1cd2ef of " +
			"3f9a2b7c", "name tmpabcdefgh of 0123456789abcdef"},
		"expected float32 but got conv2d of net": {"expected float32 but got " +
			"conv2d of net"},
		"its worker w2 was silent for …s": {"its worker w2 was silent " +
			"for 30s", "its worker w2 was silent for 8s"},
		"began at … … and took …m": {"began at 2026-11-22 " +
			"10:00:01 and took 5m", "began at 2026-01-02 3:04:05.678 and took 10m"},
		"ended by SIGKILL": {"ended by SIGKILL"},
		"":                 {""},
	} {
		for _, reason := range reasons {
			if got := failure.Alike(reason); got != want {
				t.Errorf("%q: %q, want %q", reason, got, want)
			}
		}
	}
	long := "exit code 1: error: allocated %d bytes " + strings.Repeat("and so on ", 30)
	if a, b := failure.Cut(fmt.Sprintf(long, 5)),
		failure.Cut(fmt.Sprintf(long, 5_000_000)); failure.Alike(a) != failure.Alike(b) {
		t.Errorf("of a text that was cut: %q and %q", failure.Alike(a), failure.Alike(b))
	}
}

func groupsOf(t *testing.T, all []failure.Failure) ([]failure.Group, int64) {
	t.Helper()
	g, err := failure.Groups(func(yield func(failure.Failure)) error {
		for _, f := range all {
			yield(f)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range all {
		if i := g.Index(f.Class, f.Reason); i < 0 && g.Others == 0 ||
			i >= 0 && (g.Groups[i].Class != f.Class ||
				g.Groups[i].Sweep == f.Sweep && g.Groups[i].Index > f.Index) {
			t.Errorf("%+v is in group %d", f, i)
		}
	}
	if g.Index("error", "exit code 99: nothing like it") >= 0 {
		t.Error("a failure that is none of them is in a group")
	}
	return g.Groups, g.Others
}

func TestGroups(t *testing.T) {
	t.Parallel()
	of := func(class, reason string, index int64, host string) failure.Failure {
		return failure.Failure{Class: class, Reason: reason, Index: index, Host: host}
	}
	groups, others := groupsOf(t, []failure.Failure{
		of("error", "exit code 1: KeyError: 'a'", 0, "gpu1"),
		of("error", "exit code 1: no file /a/b", 1, "gpu1"),
		of("error", "exit code 1: no file /a/c", 2, "gpu2"),
		of("error", "exit code 1: [Errno 2] in 3 of 10 files", 3, "gpu2"),
		of("error", "exit code 1: [Errno 2] in 44 of 10 files", 3, "gpu2"),
		of("timeout", "ran longer than 5m0s", 4, "gpu2"),
		of("timeout", "ran longer than 5m0s", 5, "gpu2"),
		of("error", "exit code 1: no file /a/b", 7, "gpu2"),
		of("error", "exit code 2: no file /a/b", 8, "gpu2"),
		of("lost", "exit code 2: no file /a/b", 9, ""),
	})
	want := []failure.Group{
		{Failure: of("error", "exit code 1: no file …", 1, "gpu1"), Count: 3},
		{Failure: of("error", "exit code 1: [Errno 2] in … of 10 files", 3, "gpu2"), Count: 2},
		{Failure: of("timeout", "ran longer than 5m0s", 4, "gpu2"), Count: 2},
		{Failure: of("error", "exit code 1: KeyError: 'a'", 0, "gpu1"), Count: 1},
		{Failure: of("error", "exit code 2: no file /a/b", 8, "gpu2"), Count: 1},
		{Failure: of("lost", "exit code 2: no file /a/b", 9, ""), Count: 1},
	}
	if diff := cmp.Diff(want, groups); diff != "" || others != 0 {
		t.Errorf("%d others: %s", others, diff)
	}
}

// A group has the place where its failures were raised, if it is one.
func TestGroupsOfFrames(t *testing.T) {
	t.Parallel()
	of := func(reason, frame string, index int64) failure.Failure {
		return failure.Failure{Class: "error", Reason: reason, Frame: frame, Index: index}
	}
	groups, _ := groupsOf(t, []failure.Failure{of("a 1", "a.py:1", 0), of("a 2", "a.py:1", 1),
		of("b", "b.py:1", 2), of("b", "b.py:2", 3), of("c", "", 4), of("c", "c.py:1", 5)})
	want := map[string]string{"a …": "a.py:1", "b": "", "c": ""}
	for _, g := range groups {
		if frame, known := want[g.Reason]; !known || g.Frame != frame {
			t.Errorf("%+v", g)
		}
	}
}

// Of a path that differs the last elements stay where all have them.
func TestGroupsOfPaths(t *testing.T) {
	t.Parallel()
	for want, reasons := range map[string][]string{
		"can't open file '…/mian.py': No": {"can't open file '/home/u/outputs/nn-7/0/mian.py': No",
			"can't open file '/home/u/outputs/nn-7/11/mian.py': No"},
		"no file '…/data/a.gz'": {"no file '/o/nn-7/0/data/a.gz'",
			"no file '/o/nn-7/1/data/a.gz'"},
		"no file …/a.gz": {"no file /o/nn-7/0/data/a.gz", "no file /o/nn-7/1/data/a.gz",
			"no file /o/nn-7/2/more/a.gz"},
		"no file …":          {"no file /o/0/a/x.pt", "no file /o/1/a/x.pt", "no file /o/1/a/y.pt"},
		"no file …/x.pt":     {"no file data.d/x.pt", "no file /o/data.d/x.pt"},
		"bad at …":           {"bad at /o/0/ab.py", "bad at /o/0/b.py"},
		"bad at …/a.py:7":    {"bad at /o/0/a.py:7", "bad at /o/1/a.py:7"},
		`no file '…\x.pt'`:   {`no file 'C:\o\0\x.pt'`, `no file 'C:\o\1\x.pt'`},
		"took … of /tmp/all": {"took 5 of /tmp/all", "took 15 of /tmp/all"},
	} {
		var all []failure.Failure
		for i, reason := range reasons {
			all = append(all, failure.Failure{Class: "error", Reason: reason, Index: int64(i)})
		}
		groups, _ := groupsOf(t, all)
		if len(groups) != 1 || groups[0].Reason != want {
			t.Errorf("%+v, want %q", groups, want)
		}
	}
}

// Among many different texts the frequent ones are counted exactly, wherever they stand.
func TestGroupsOfManyTexts(t *testing.T) {
	t.Parallel()
	const n = 200_000
	word := func(i int) string { // without digits
		text := ""
		for ; i > 0; i /= 26 {
			text += string(rune('a' + i%26))
		}
		return text
	}
	var all []failure.Failure
	for i := range n {
		f := failure.Failure{Class: "error", Reason: "exit code 1: no key " + word(i),
			Index: int64(i), Host: "gpu1"}
		switch {
		case i%10 == 9:
			f.Reason = fmt.Sprintf("exit code 1: no more than %d", i)
		case i > n/2 && i%100 == 0:
			f.Reason = "exit code 1: late"
		}
		all = append(all, f)
	}
	groups, others := groupsOf(t, all)
	if len(groups) != 100 {
		t.Fatalf("%d groups", len(groups))
	}
	want := []failure.Group{
		{Failure: failure.Failure{Class: "error", Reason: "exit code 1: no more than …", Index: 9,
			Host: "gpu1"}, Count: n / 10},
		{Failure: failure.Failure{Class: "error", Reason: "exit code 1: late", Index: n/2 + 100,
			Host: "gpu1"}, Count: n/200 - 1},
	}
	if diff := cmp.Diff(want, groups[:2]); diff != "" {
		t.Error(diff)
	}
	sum := others
	for _, g := range groups {
		sum += g.Count
	}
	if sum != n {
		t.Errorf("%d in groups and others", sum)
	}
}

// What differs only behind what counts of a long reason is left out.
func TestGroupsOfLongReasons(t *testing.T) {
	t.Parallel()
	long := "exit code 1: error: allocated %d bytes of 80 " + strings.Repeat("and so on ", 30)
	groups, _ := groupsOf(t, []failure.Failure{{Reason: failure.Cut(fmt.Sprintf(long, 5))},
		{Reason: failure.Cut(fmt.Sprintf(long, 5_000_000))}})
	want := "exit code 1: error: allocated … of 80 " + strings.Repeat("and so on ", 8) + "and…"
	if len(groups) != 1 || groups[0].Reason != want {
		t.Errorf("%+v, want %q", groups, want)
	}
}

func FuzzGroups(f *testing.F) {
	f.Add("exit code 1: no file /a/b of 12.5 GiB", "exit code 1: no file ./c of -1e-05 … B")
	f.Fuzz(func(t *testing.T, a, b string) {
		groups, _ := groupsOf(t, []failure.Failure{{Reason: a}, {Reason: b}, {Reason: a}})
		if want := failure.Alike(a) == failure.Alike(b); (len(groups) == 1) != want {
			t.Errorf("%+v", groups)
		}
	})
}

func BenchmarkGroups(b *testing.B) {
	for b.Loop() {
		_, _ = failure.Groups(func(yield func(failure.Failure)) error {
			for i := range int64(10000) {
				yield(failure.Failure{Class: "error",
					Reason: fmt.Sprintf("exit code 1: FileNotFoundError: [Errno 2] No such file: "+
						"'/data/%d/x.pt'", i), Index: i})
			}
			return nil
		})
	}
}
