package cli_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
)

func app() *cliv2.App {
	return &cliv2.App{
		Name: "prog",
		Flags: []cliv2.Flag{
			&cliv2.StringFlag{Name: "d"}, &cliv2.IntFlag{Name: "slots"},
			&cliv2.BoolFlag{Name: "dry-run"},
			&cliv2.BoolFlag{Name: "quiet", Aliases: []string{"q"}},
		},
		Commands: []*cliv2.Command{
			{Name: "show", Flags: []cliv2.Flag{&cliv2.BoolFlag{Name: "json"},
				&cliv2.StringFlag{Name: "sort"}}},
			{Name: "ls"},
			{Name: "workers", Flags: []cliv2.Flag{&cliv2.BoolFlag{Name: "json"}},
				Subcommands: []*cliv2.Command{
					{Name: "drain", Aliases: []string{"cordon"},
						Flags: []cliv2.Flag{&cliv2.BoolFlag{Name: "json"}}},
					{Name: "restart", Flags: []cliv2.Flag{&cliv2.BoolFlag{Name: "now"},
						&cliv2.StringFlag{Name: "grace"}}},
				}},
		},
	}
}

func TestArrange(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ args, want string }{
		"nothing":                      {"", ""},
		"only a name":                  {"NAME", "-- NAME"},
		"options before":               {"-d p --dry-run NAME", "-d p --dry-run -- NAME"},
		"options after":                {"NAME -d p --dry-run", "-d p --dry-run -- NAME"},
		"options around":               {"--dry-run NAME -d p", "--dry-run -d p -- NAME"},
		"a value in the same word":     {"NAME --slots=3", "--slots=3 -- NAME"},
		"one dash":                     {"NAME -slots 3", "-slots 3 -- NAME"},
		"leading zeros":                {"NAME --slots 010", "--slots 10 -- NAME"},
		"leading zeros, one word":      {"NAME --slots=08", "--slots=8 -- NAME"},
		"an alias":                     {"NAME -q", "-q -- NAME"},
		"a value that begins with -":   {"show --sort -accuracy x", "show --sort -accuracy -- x"},
		"a negative number":            {"NAME -5", "-- NAME -5"},
		"a lone dash":                  {"NAME -", "-- NAME -"},
		"after --":                     {"-q -- --dry-run", "-q -- --dry-run"},
		"a command":                    {"show --json x", "show --json -- x"},
		"a command, its option before": {"--json show x", "show --json -- x"},
		"a value like a command":       {"-d show NAME", "-d show -- NAME"},
		"a command after --":           {"-- show", "-- show"},
		"a name like no command":       {"NAME show", "-- NAME show"},
		"a command without arguments":  {"ls", "ls"},
		"a switch with a value":        {"NAME --dry-run=false", "--dry-run=false -- NAME"},
		"a group alone":                {"workers --json", "workers --json"},
		"a verb":                       {"workers drain w1", "workers drain -- w1"},
		"a verb's alias":               {"workers cordon w1", "workers drain -- w1"},
		"options before the verb": {"workers --now --grace drain restart w1",
			"workers restart --now --grace drain -- w1"},
		"options before the group": {"--json workers drain w1", "workers drain --json -- w1"},
		"a verb after --":          {"workers -- drain -w", "workers drain -- -w"},
		"a worker like a verb":     {"workers drain restart", "workers drain -- restart"},
		"a definition like a verb": {"drain workers", "-- drain workers"},
		"help of a verb":           {"help workers drain", "workers drain --help"},
		"help after a verb":        {"workers drain w1 -h", "workers drain -h"},
		"help":                     {"help", "--help"},
		"help of a command":        {"help show", "show --help"},
		"help after a command":     {"show x --help", "show --help"},
		"help wins":                {"NAME -h", "-h"},
		"an empty argument":        {"show ''", "show -- ''"},
		"a number at its letter":   {"NAME -d3", "-d=3 -- NAME"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := cli.Arrange(app(), words(c.args))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(words(c.want), got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// words are the arguments of the program; two quotes are an empty one.
func words(line string) []string {
	args := append([]string{"prog"}, strings.Fields(line)...)
	for i, a := range args {
		if a == "''" {
			args[i] = ""
		}
	}
	return args
}

func TestArrangeRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ args, want string }{
		"unknown, and another is near": {"NAME --dry-rum",
			"unknown option --dry-rum\n  did you mean --dry-run?"},
		"unknown, and none is near": {"NAME --banana",
			"unknown option --banana\n  see `prog --help`"},
		"an unknown letter": {"-x", "unknown option -x\n  see `prog --help`"},
		"of another command": {"show --dry-run",
			"--dry-run is not an option of prog show\n  see `prog show --help`"},
		"of a command, without it": {"NAME --json",
			"--json is not an option of prog\n  it is an option of `prog show` and `prog workers`"},
		"no value at the end": {"NAME --slots", "--slots needs a value"},
		"no value before --":  {"-d -- NAME", "-d needs a value"},
		"no number": {"--slots x NAME",
			`--slots must be a whole number, not "x"`},
		"no number in the same word": {"--slots= NAME", `--slots must be a whole number, not ""`},
		"a number without end": {"--slots=99999999999999999999 NAME",
			"--slots: 99999999999999999999 is out of range"},
		"a hexadecimal number": {"--slots 0x10 NAME",
			`--slots must be a whole number, not "0x10"`},
		"a fraction": {"--slots=1.5 NAME",
			`--slots must be a whole number, not "1.5"`},
		"a switch with a word": {"--dry-run=maybe NAME",
			`--dry-run is a switch: write it without a value, not with "maybe"`},
		"help of nothing": {"help banana", `unknown command "banana" for "prog"` +
			"\n  see `prog --help`"},
		"help of an unknown verb": {"help workers dance",
			`unknown command "dance" for "prog workers"` + "\n  see `prog workers --help`"},
		"an unknown verb": {"workers dance w1 --now",
			`unknown command "dance" for "prog workers"` + "\n  see `prog workers --help`"},
		"a verb with a slip": {"workers drian w1",
			`unknown command "drian" for "prog workers"` +
				"\n  did you mean `prog workers drain`?"},
		"an option of the verb beside": {"workers drain w1 --now", "--now is not an option of " +
			"prog workers drain\n  it is an option of `prog workers restart`"},
		"an option of the verb below": {"workers --now",
			"--now is not an option of prog workers\n  it is an option of `prog workers restart`"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := cli.Arrange(app(), words(c.args))
			if err == nil || err.Error() != c.want {
				t.Errorf("got %v\nwant %s", err, c.want)
			}
			if code := cli.Finish(new(strings.Builder), "prog", err); code != cli.Usage {
				t.Errorf("exit code %d", code)
			}
		})
	}
}

// plain is a word that may have been typed with leading zeros.
var plain = regexp.MustCompile(`(^|=)-?\d+$`)

// FuzzArrange holds that no argument is lost or made up, whatever is typed.
func FuzzArrange(f *testing.F) {
	f.Add("show --json x")
	f.Add("workers\x00--now\x00restart\x00--\x00w1")
	f.Add("-d=x\x00--\x00-q")
	f.Fuzz(func(t *testing.T, line string) {
		in := append([]string{"prog"}, strings.Split(line, "\x00")...)
		out, err := cli.Arrange(app(), in)
		if err != nil {
			return
		}
		for _, word := range out[1:] {
			if word != "--" && word != "--help" && count(in, word) == 0 &&
				!plain.MatchString(word) {
				t.Errorf("%q came from nowhere: %q", word, in)
			}
		}
	})
}

func count(all []string, word string) (n int) {
	for _, w := range all {
		if w == word {
			n++
		}
	}
	return n
}
