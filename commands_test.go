package mlframework_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/infra/clean"
)

var update = flag.Bool("update", false, "write docs/commands.md anew")

const (
	commandsPage = "docs/commands.md"
	commandsHead = `# Commands

What every command says with ` + "`--help --all`" + `. A test holds this page to the programs, and writes it:
` + "`go test . -run TestCommandReference -update`" + `. Exit codes that a command has in common with all of its subcommands are said once.
`
)

// TestCommandReference builds the commands, asks each, and each of its subcommands, for its help,
// and compares docs/commands.md. A help fits a terminal of 80 columns, and has examples that name
// only commands and options that exist, as command lines in other pages do.
func TestCommandReference(t *testing.T) {
	t.Parallel()
	bin := buildCommands(t)
	var page strings.Builder
	page.WriteString(commandsHead)
	for _, name := range []string{"infrainit", "check-status", "run-tasks", "update-files",
		"nvdocker-install", "infra-clean", "sweepd"} {
		writeHelp(t, &page, bin, "##", "", name)
	}
	checkPages(t, bin)
	if *update {
		if err := os.WriteFile(commandsPage, []byte(page.String()), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	have, err := os.ReadFile(commandsPage)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(page.String(), string(have)); diff != "" {
		t.Errorf("%s does not show what the commands say (-commands +page): "+
			"go test . -run TestCommandReference -update\n%s", commandsPage, diff)
	}
}

// writeHelp writes what a command says of itself, and then each of its subcommands, which say
// nothing of the exit codes that they have in common with it.
func writeHelp(t *testing.T, page *strings.Builder, bin, heading, codes, name string) {
	t.Helper()
	all := " --all"
	if name == "infra-clean" { // a script, whose usage lines are its examples
		all = ""
	}
	text, err := ask(t, bin, name+" --help"+all)
	if err != nil || text == "" {
		t.Fatalf("%s --help: %v, %d bytes", name, err, len(text))
	}
	if all != "" {
		checkWidth(t, name, text)
		checkExamples(t, bin, name, section(text, "EXAMPLES:"))
	}
	shown := strings.TrimSuffix(text, "\nEXIT CODES:\n"+codes)
	fmt.Fprintf(page, "\n%s %s\n\n```text\n%s```\n", heading, name, shown)
	codes = section(text, "EXIT CODES:")
	for line := range strings.Lines(section(text, "COMMANDS:")) {
		if !strings.HasPrefix(line, "    ") { // else the text above goes on
			writeHelp(t, page, bin, heading+"#", codes, name+" "+strings.Fields(line)[0])
		}
	}
}

func checkWidth(t *testing.T, name, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if len([]rune(line)) > 80 || strings.TrimRight(line, " ") != line {
			t.Errorf("%s --help: wider than 80 columns, or ends with spaces: %q", name, line)
		}
	}
}

// checkExamples asks for help with the command line of each example, which fails for unknown
// commands and options, and for values that an option cannot have.
func checkExamples(t *testing.T, bin, name, examples string) {
	t.Helper()
	tried := 0
	for line := range strings.Lines(strings.ReplaceAll(examples, "\\\n", "")) {
		line, _, _ = strings.Cut(strings.TrimSpace(line), " < ")
		line, _, _ = strings.Cut(line, " > ")
		program, rest, _ := strings.Cut(line, " ")
		if program == "#" {
			continue
		}
		tried++
		text, err := ask(t, bin, program+" --help "+rest)
		if err != nil || !strings.HasPrefix(text, name+" ") {
			t.Errorf("%s --help: the example %q does not work: %v %.60q", name, line, err, text)
		}
	}
	if tried == 0 {
		t.Errorf("%s --help has no example", name)
	}
}

// shownCommand matches a command line of this project in a page: behind a $, or indented.
var shownCommand = regexp.MustCompile(`(?m)^(?: {4}|\$ | {4}\$ )(` +
	`(?:run-tasks|infrainit|check-status|update-files|nvdocker-install|sweepd)(?: [^#<>|\n]*)?)`)

// checkPages asks for help with each command line that README.md and the pages of docs show.
func checkPages(t *testing.T, bin string) {
	t.Helper()
	pages, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range append(pages, "README.md") {
		if page == commandsPage {
			continue
		}
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range shownCommand.FindAllStringSubmatch(string(text), -1) {
			program, rest, _ := strings.Cut(strings.TrimSpace(m[1]), " ")
			if _, err := ask(t, bin, program+" --help "+rest); err != nil {
				t.Errorf("%s: the command line %q does not work: %v", page, m[1], err)
			}
		}
	}
}

// buildCommands builds what people call, with the flags of scripts/lib.sh, so that either finds the
// other's work done.
func buildCommands(t *testing.T) (bin string) {
	t.Helper()
	bin = t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-o", bin, "./cmd/...")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	script := clean.Script(clean.Cluster{Name: "anna-digits", Root: "ml/anna-digits",
		Label: "mlframework.cluster"})
	if err := os.WriteFile(filepath.Join(bin, "infra-clean"), script, 0o700); err != nil {
		t.Fatal(err)
	}
	return bin
}

// ask returns what a command line that asks for help prints, whoever asks: nothing of this
// environment is in it.
func ask(t *testing.T, bin, line string) (string, error) {
	t.Helper()
	c := exec.CommandContext(t.Context(), "sh", "-c", line)
	c.Env = []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "HOME=" + t.TempDir()}
	c.Stderr = new(strings.Builder)
	out, err := c.Output()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, c.Stderr)
	}
	return strings.TrimSpace(string(out)) + "\n", err
}

// section is what stands below a heading of a help, to the next empty line.
func section(text, heading string) string {
	_, rest, _ := strings.Cut(text, "\n"+heading+"\n")
	lines, _, _ := strings.Cut(rest, "\n\n")
	if lines != "" && !strings.HasSuffix(lines, "\n") {
		lines += "\n"
	}
	return lines
}
