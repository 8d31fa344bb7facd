package host_test

import (
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"mlframework/infra/host"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]host.Address{
		"gpu1":                    {Name: "gpu1"},
		" gpu1 ":                  {Name: "gpu1"},
		"anna@gpu1":               {User: "anna", Name: "gpu1"},
		"anna@gpu1.example.org:8": {User: "anna", Name: "gpu1.example.org", Port: 8},
		"gpu1:65535":              {Name: "gpu1", Port: 65535},
		"192.0.2.7:2222":          {Name: "192.0.2.7", Port: 2222},
		"2001:db8::1":             {Name: "2001:db8::1"},
		"[2001:db8::1]":           {Name: "2001:db8::1"},
		"anna@[2001:db8::1]:2222": {User: "anna", Name: "2001:db8::1", Port: 2222},
		"fe80::1%eth0":            {Name: "fe80::1%eth0"},
		"local":                   host.Local,
		"localhost":               {Name: "localhost"},
		"my_alias+2":              {Name: "my_alias+2"},
		"anna.b-c@gpu1":           {User: "anna.b-c", Name: "gpu1"},
		"LAB\\anna@gpu1":          {User: "LAB\\anna", Name: "gpu1"},
		"rechner-ü":               {Name: "rechner-ü"},
	} {
		got, err := host.Parse(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q:\n%s", text, diff)
		}
	}
}

func TestParseFaults(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                      "is empty; write [user@]host[:port], or remove a comma",
		"@gpu1":                 `"@gpu1" has no user before the @; write user@host, or host alone`,
		"an na@gpu1":            `"an na@gpu1": "an na" is no name of a user; write user@host`,
		"-oProxyCommand=x@gpu1": `"-oProxyCommand=x@gpu1": "-oProxyCommand=x" is no name of a user; write user@host`,
		"a@b@gpu1":              `"a@b@gpu1": "a@b" is no name of a user; write user@host`,
		"anna@":                 `"anna@" names no host; write [user@]host[:port]`,
		"-oProxyCommand=x":      `"-oProxyCommand=x": a host does not begin with -; write [user@]host[:port]`,
		"gpu 1":                 `"gpu 1" is no address of a host; write [user@]host[:port], hosts apart by commas`,
		"gpu1;gpu2":             `"gpu1;gpu2" is no address of a host; write [user@]host[:port], hosts apart by commas`,
		"gpu1/x":                `"gpu1/x" is no address of a host; write [user@]host[:port], hosts apart by commas`,
		"..":                    `".." is no address of a host; write [user@]host[:port], hosts apart by commas`,
		"a..b":                  `"a..b" is no address of a host; write [user@]host[:port], hosts apart by commas`,
		"fe80::1%$(x)":          `"fe80::1%$(x)" is no address of a host; write [user@]host[:port], hosts apart by commas`,
		"gpu1:":                 `"gpu1:": "" is no port; write a number from 1 to 65535 after the colon`,
		"gpu1:ssh":              `"gpu1:ssh": "ssh" is no port; write a number from 1 to 65535 after the colon`,
		"gpu1:0":                `"gpu1:0": "0" is no port; write a number from 1 to 65535 after the colon`,
		"gpu1:+22":              `"gpu1:+22": "+22" is no port; write a number from 1 to 65535 after the colon`,
		"gpu1:70000":            `"gpu1:70000": "70000" is no port; write a number from 1 to 65535 after the colon`,
		"ssh://gpu1:22":         `"ssh://gpu1:22" has more than one colon and is no IPv6 address; write host:port or [2001:db8::1]:port`,
		"[2001:db8::1":          `"[2001:db8::1" has brackets that do not fit; write an IPv6 address with a port as [2001:db8::1]:22`,
		"[2001:db8::1]22":       `"[2001:db8::1]22" has brackets that do not fit; write an IPv6 address with a port as [2001:db8::1]:22`,
		"[gpu1]:22":             `"[gpu1]:22" has no IPv6 address in its brackets; write host:port without them`,
		"anna@local":            `"anna@local": local is this machine, which has no user and no port; write local, or localhost to go by ssh`,
		"local:22":              `"local:22": local is this machine, which has no user and no port; write local, or localhost to go by ssh`,
		"Local":                 `"Local": local is this machine, which has no user and no port; write local, or localhost to go by ssh`,
		"gpu1\x1b[2J":           `"gpu1\x1b[2J" is no address of a host; write [user@]host[:port], hosts apart by commas`,
		strings.Repeat("a", 254) + ":1": `"` + strings.Repeat("a", 60) +
			`…" is no address of a host; write [user@]host[:port], hosts apart by commas`,
	} {
		_, err := host.Parse(text)
		if err == nil {
			t.Errorf("%q is taken", text)
		} else if diff := cmp.Diff(want, err.Error()); diff != "" {
			t.Errorf("%q:\n%s", text, diff)
		}
	}
}

// A list says what is wrong with each of its elements, and keeps the numbers of the others.
func TestParseList(t *testing.T) {
	t.Parallel()
	got, err := host.ParseList(host.Split(" anna@gpu1 , ,gpu2:x,local,gpu3"))
	if err == nil {
		t.Fatal("no fault")
	}
	want := "-a: element 2: is empty; write [user@]host[:port], or remove a comma\n" +
		`-a: element 3: "gpu2:x": "x" is no port; write a number from 1 to 65535 after the colon` +
		"\n" +
		"-a: element 4: local is this machine, which is not among the hosts; leave it out here, " +
		"and write -m local or -w local"
	if diff := cmp.Diff(want, err.Error()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]host.Address{{User: "anna", Name: "gpu1"}, {}, {}, {}, {Name: "gpu3"}},
		got); diff != "" {
		t.Error(diff)
	}
	if got, err := host.ParseList(host.Split("  ")); len(got) > 0 || err != nil {
		t.Error(got, err)
	}
}

// What is taken is written back as it is read, has one normal form, and is safe on a command line
// and a terminal.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"anna@gpu1:22", "[2001:db8::1]:22", "fe80::1%eth0", "local",
		"a,b", "", "ü@ü", "[::ffff:192.0.2.1]", "a@b@c:1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		a, err := host.Parse(text)
		if err != nil {
			if strings.ContainsFunc(err.Error(), unicode.IsControl) || a != (host.Address{}) {
				t.Fatalf("%q: %+v, %q", text, a, err)
			}
			return
		}
		again, err := host.Parse(a.String())
		if err != nil || again != a {
			t.Fatalf("%q is %+v, written %q and read back as %+v, %v", text, a, a, again, err)
		}
		if n := a.Normal(); n != n.Normal() {
			t.Fatalf("%q: the normal form %+v has another, %+v", text, n, n.Normal())
		}
		if strings.ContainsAny(a.User+a.Name, " \t\n'\"$`;|&<>/") || a.User+a.Name == "" ||
			a.Name[0] == '-' || a.Port < 0 || a.Port > 65535 {
			t.Fatalf("%q is %+v", text, a)
		}
		if strings.ContainsFunc(a.String(), unicode.IsControl) {
			t.Fatalf("%q", a)
		}
	})
}

// Lists and places never panic, and every fault says which option and is one line.
func FuzzLists(f *testing.F) {
	f.Add("a,b", "1", "local,2-5")
	f.Add("a,,a:22", "9", "1,1,3-2")
	f.Add("", "local", "local")
	f.Fuzz(func(t *testing.T, hosts, master, workers string) {
		list, err1 := host.ParseList(host.Split(hosts))
		m, err2 := host.ParsePosition(master)
		w, err3 := host.ParsePositions(host.Split(workers))
		for _, err := range []error{err1, err2, err3} {
			if err != nil && strings.ContainsFunc(strings.ReplaceAll(err.Error(), "\n", ""),
				unicode.IsControl) {
				t.Fatalf("%q", err)
			}
		}
		if err1 != nil || err2 != nil || err3 != nil {
			host.Check(list, m, w)
			return
		}
		s, err := host.Select(list, m, w)
		if err != nil {
			return
		}
		seen := map[string]bool{}
		for _, h := range s.Hosts {
			checkName(t, h.Name)
			if seen[h.Name] {
				t.Fatalf("two workers have the name %s: %v", h.Name, s.Hosts)
			}
			seen[h.Name] = true
		}
		if len(s.Workers) != len(w) || (s.Master != nil) != (m != 0) {
			t.Fatalf("%+v", s)
		}
	})
}
