package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// pageBlock matches a block of a page: a file, whose first line is a comment with its name, or
// commands with what they print.
var pageBlock = regexp.MustCompile(
	"(?sm)^```(?:(?:python|yaml)\n# ([\\w.]+)|console)\n(.*?)^```$")

// TestTutorial writes the files of docs/tutorial.md and runs its commands, in their order. They
// print what the page shows, but for times, sizes and the name of the machine. A line "..." in the
// page stands for any lines, and one that ends with " ..." for those that begin so. The commands of
// docs/agents.md run with the tutorial's script.
func TestTutorial(t *testing.T) {
	t.Parallel()
	users()[0].findPython(t)
	tutorial := pageBlocks(t, "tutorial.md")
	for name, blocks := range map[string][][]string{"tutorial": tutorial,
		"agents": append([][]string{tutorial[0]}, pageBlocks(t, "agents.md")...)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder{t, t.TempDir()}.follow(blocks)
		})
	}
}

func pageBlocks(t *testing.T, name string) [][]string {
	t.Helper()
	page, err := os.ReadFile("../../docs/" + name)
	if err != nil {
		t.Fatal(err)
	}
	blocks := pageBlock.FindAllStringSubmatch(string(page), -1)
	if len(blocks) < 3 {
		t.Fatalf("docs/%s has %d blocks", name, len(blocks))
	}
	return blocks
}

// follow does what blocks of a page say.
func (f folder) follow(blocks [][]string) {
	f.t.Helper()
	for _, block := range blocks {
		if block[1] != "" {
			f.write(block[1], block[2])
			continue
		}
		for _, part := range strings.Split("\n"+block[2], "\n$ ")[1:] {
			command, want, _ := strings.Cut(part, "\n")
			if got := f.console(command); !matchesPage(want, got) {
				f.t.Errorf("$ %s\n(-page +program)\n%s", command,
					cmp.Diff(strings.TrimSpace(want), strings.TrimSpace(got)))
			}
		}
	}
}

// console runs a command line in the folder and returns what it prints.
func (f folder) console(command string) string {
	f.t.Helper()
	shell := exec.CommandContext(f.t.Context(), "sh", "-c", command)
	shell.Dir = f.dir
	shell.Env = append(os.Environ(), "MLFRAMEWORK_STORE=", "PATH="+filepath.Dir(program)+":"+
		os.Getenv("PATH"))
	out, _ := shell.CombinedOutput() // some commands of the page fail, and say so
	return string(out)
}

// varying matches what differs between two runs: dates, times, sizes, and blanks beside them. A slow
// machine also prints the elapsed time.
var varying = []struct{ pattern, as string }{
	{`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d|[A-Z][a-z][a-z] [ \d]\d \d\d:\d\d`, "DATE"},
	{`\b(\d+h)?(\d+m)?[\d.]+m?s\b`, "TIME"},
	{` \(TIME elapsed\)`, ""},
	{`\b[\d.]+ k?B\b`, "SIZE"},
	{`\d+ slots?`, "SLOTS"},
	{`[ \t]+`, " "},
}

func matchesPage(want, got string) bool {
	if host, err := os.Hostname(); err == nil {
		got = regexp.MustCompile(`\b`+regexp.QuoteMeta(host)+`\b`).ReplaceAllString(got, "vm")
	}
	var pattern strings.Builder
	for line := range strings.Lines(strings.TrimSpace(want)) {
		line = strings.TrimSuffix(line, "\n")
		begins := strings.HasSuffix(line, " ...")
		switch line = normal(line); {
		case line == "...":
			pattern.WriteString(`(?:.*\n)*?`)
		case begins:
			pattern.WriteString(regexp.QuoteMeta(strings.TrimSuffix(line, " ...")) + `.*\n`)
		default:
			pattern.WriteString(regexp.QuoteMeta(line) + `\n`)
		}
	}
	return regexp.MustCompile(`^` + pattern.String() + `$`).MatchString(
		normal(strings.TrimSpace(got)) + "\n")
}

func normal(text string) string {
	for _, v := range varying {
		text = regexp.MustCompile(v.pattern).ReplaceAllString(text, v.as)
	}
	return text
}
