package host_test

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/infra/host"
)

// show is "NAME@PLACE" of the hosts, then the master's and workers' places.
func show(s host.Selection) string {
	var words []string
	for _, h := range s.Hosts {
		words = append(words, h.Position.String()+"="+h.Name)
	}
	text := strings.Join(words, " ") + " master"
	if s.Master != nil {
		text += " " + s.Master.Position.String()
	}
	text += " workers"
	for _, w := range s.Workers {
		text += " " + w.Position.String()
	}
	return text
}

func TestSelect(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, hosts, master, workers, want string }{
		{"as written", "anna@gpu1,anna@gpu2,anna@gpu3", "1", "2,3",
			"1=gpu1 2=gpu2 3=gpu3 master 1 workers 2 3"},
		{"master only", "a,b", "1", "", "1=a 2=b master 1 workers"},
		{"joins", "a,b", "", "2", "1=a 2=b master workers 2"},
		{"local", "", "local", "local", "local=local master local workers local"},
		{"both", "a,b", "local", "2,local,1", "local=local 1=a 2=b master local workers 2 local 1"},
		{"master works", "a", "1", "1", "1=a master 1 workers 1"},
		{"range", "a,b,c,d,e,f", "1", "2-4, 6", "1=a 2=b 3=c 4=d 5=e 6=f master 1 workers 2 3 4 6"},
		{"same host, two ports", "gpu1,gpu1:2222", "1", "2",
			"1=gpu1 2=gpu1-2222 master 1 workers 2"},
		{"nothing", "a,b", "", "", "nothing to start: name the master's host with -m, workers' " +
			"with -w, or both"},
		{"beyond", "a,b,c", "9", "2,5", "-m: there is no host 9: 3 are named, the last is c; " +
			"write a number from 1 to 3, or local\n-w: there is no host 5: 3 are named, the last " +
			"is c; write a number from 1 to 3, or local"},
		{"beyond one", "a", "2", "", "-m: there is no host 2: one is named, a; write 1 or local"},
		{"no hosts", "", "1", "local", "-m: there is no host 1: no hosts are named; name them: " +
			"-a host1,host2"},
		{"workers twice", "a,b,c", "1", "1-2,2", "-w: 2 is there twice; remove one: a host has " +
			"one worker, with as many slots as it can use"},
		{"local twice", "", "", "local,local", "-w: local is there twice; remove one: a host has " +
			"one worker, with as many slots as it can use"},
		{"hosts twice", "GPU1.,gpu2,gpu1:22,[::1],0:0::1", "1", "",
			"-a: element 3: gpu1:22 is there already, as GPU1. at position 1; remove one\n" +
				"-a: element 5: [0:0::1] is there already, as [::1] at position 4; remove one"},
		{"all at once", "a,a", "3", "4,4", "-a: element 2: a is there already, as a at position " +
			"1; remove one\n-m: there is no host 3: 2 are named, the last is a; write a number " +
			"from 1 to 2, or local\n-w: there is no host 4: 2 are named, the last is a; write a " +
			"number from 1 to 2, or local\n-w: 4 is there twice; remove one: a host has one " +
			"worker, with as many slots as it can use"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			hosts, err1 := host.ParseList(host.Split(c.hosts))
			master, err2 := host.ParsePosition(c.master)
			workers, err3 := host.ParsePositions(host.Split(c.workers))
			if err := errors.Join(err1, err2, err3); err != nil {
				t.Fatal(err)
			}
			s, err := host.Select(hosts, master, workers)
			got := show(s)
			if err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestPlaceFaults(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"two": `-m: "two" is neither local nor a host of -a; write local, or the name or number of a host of -a, counted from 1`,
		"0":   `-m: "0" is neither local nor a host of -a; write local, or the name or number of a host of -a, counted from 1`,
		"-1":  `-m: "-1" is neither local nor a host of -a; write local, or the name or number of a host of -a, counted from 1`,
		"1,2": `-m: "1,2" is more than one host; the master runs on one host: write local or its number`,
		"1-2": `-m: "1-2" is more than one host; the master runs on one host: write local or its number`,
	} {
		if _, err := host.ParsePosition(text); err == nil || err.Error() != want {
			t.Errorf("%q: %v", text, err)
		}
	}
	const remedy = "; write local, names of hosts of -a, their numbers counted from 1, or a " +
		"range such as 2-5"
	for text, want := range map[string]string{
		"1,,2":    "-w: element 2: is empty" + remedy,
		"gpu1":    `-w: element 1: "gpu1" is neither local nor a host of -a nor a range of numbers` + remedy,
		"1,5-2":   `-w: element 2: the range "5-2" ends before it begins` + remedy,
		"1-local": `-w: element 1: "1-local" is neither local nor a host of -a nor a range of numbers` + remedy,
		"1-99999": `-w: element 1: "1-99999" is neither local nor a host of -a nor a range of numbers` + remedy,
		"+1": `-w: element 1: "+1" is neither local nor a host of -a nor a range of numbers` +
			remedy,
	} {
		if _, err := host.ParsePositions(host.Split(text)); err == nil || err.Error() != want {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// Hosts may be named where a number is expected.
func TestNumbers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ hosts, words, want string }{
		{"anna@gpu1.example.org:22,gpu-2,gpu3", "gpu1,gpu-2,3,local,2-3", "1 2 3 local 2-3"},
		{"anna@gpu1.example.org:22", "gpu1.example.org,anna@gpu1.example.org,GPU1.example.org.",
			"1 1 1"},
		{"anna@gpu1,ben@gpu1", "gpu1,ben@gpu1,anna-gpu1", "gpu1 2 1"},
		{"gpu1,gpu1:2222", "gpu1,gpu1:2222,gpu1-2222", "1 2 2"},
		{"gpu1", "gpu2,ben@gpu1,gpu1:2222,x y,,-1", "gpu2 ben@gpu1 gpu1:2222 x y  -1"},
		{"", "gpu1", "gpu1"},
	} {
		hosts, err := host.ParseList(host.Split(c.hosts))
		if err != nil && c.hosts != "" {
			t.Fatal(err)
		}
		got := strings.Join(host.Numbers(hosts, strings.Split(c.words, ",")), " ")
		if got != c.want {
			t.Errorf("%s of %s: %q, not %q", c.words, c.hosts, got, c.want)
		}
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, hosts, want string }{
		{"first label", "anna@gpu1.cs.example.org:22,gpu2", "gpu1 gpu2"},
		{"labels alike", "gpu1.a.org,gpu1.b.org", "gpu1.a.org gpu1.b.org"},
		{"ports", "gpu1:22,gpu1:2222", "gpu1-22 gpu1-2222"},
		{"one port", "gpu1,gpu1:2222", "gpu1 gpu1-2222"},
		{"users", "anna@gpu1,ben@gpu1", "anna-gpu1 ben-gpu1"},
		{"users and ports", "anna@gpu1:1,ben@gpu1:1,anna@gpu1:2", "anna-gpu1 ben-gpu1 gpu1-2"},
		{"addresses", "192.0.2.1,192.0.2.2,[2001:db8::1]:22", "192.0.2.1 192.0.2.2 2001-db8-1"},
		{"like this machine", "local.example.org", "local.example.org"},
		{"upper case", "GPU1", "gpu1"},
	} {
		hosts, err := host.ParseList(host.Split(c.hosts))
		if err != nil {
			t.Fatal(c.name, err)
		}
		if diff := cmp.Diff(strings.Fields(c.want), host.Names(hosts)); diff != "" {
			t.Errorf("%s:\n%s", c.name, diff)
		}
	}
}

// The order in which hosts are listed does not decide which has which name, and hashes keep apart
// what characters do not.
func TestNamesDoNotDependOnTheOrder(t *testing.T) {
	t.Parallel()
	hosts, err := host.ParseList(
		host.Split("gpu1,gpu1:2222,gpu1-2222,ben@gpu1,rechner-ü,rechner-ä,ü,gpu1.a.org," +
			strings.Repeat("x", 100)))
	if err != nil {
		t.Fatal(err)
	}
	want := map[host.Address]string{}
	for i, n := range host.Names(hosts) {
		checkName(t, n)
		want[hosts[i]] = n
	}
	seen := slices.Compact(slices.Sorted(slices.Values(host.Names(hosts))))
	if len(seen) != len(hosts) {
		t.Fatalf("names are there twice: %v", want)
	}
	slices.Reverse(hosts)
	for i, n := range host.Names(hosts) {
		if want[hosts[i]] != n {
			t.Errorf("%s is %s, and %s when listed the other way round", hosts[i], want[hosts[i]],
				n)
		}
	}
}

var workerName = regexp.MustCompile(`^[a-z0-9]([a-z0-9._-]*[a-z0-9])?$`)

func checkName(t *testing.T, name string) {
	t.Helper()
	if !workerName.MatchString(name) || len(name) > 63 {
		t.Errorf("%q is no name for a worker", name)
	}
}
