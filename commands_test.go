package mlframework_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/infra/clean"
)

var update = flag.Bool("update", false, "write docs/commands.md anew")

const (
	commandsPage = "docs/commands.md"
	commandsHead = `# Commands

What every command says with ` + "`--help`" + `. A test holds this page to the programs, and writes it:
` + "`go test . -run TestCommandReference -update`" + `. Exit codes that a command has in common with all of its subcommands are said once.
`
)

// TestCommandReference builds the commands, asks each, and each of its subcommands, for its help, and compares docs/commands.md.
func TestCommandReference(t *testing.T) {
	t.Parallel()
	bin := buildCommands(t)
	var page strings.Builder
	page.WriteString(commandsHead)
	for _, name := range []string{"infrainit", "check-status", "run-tasks", "update-files", "nvdocker-install", "infra-clean", "sweepd"} {
		text := help(t, filepath.Join(bin, name))
		fmt.Fprintf(&page, "\n## %s\n\n```text\n%s```\n", name, text)
		codes := section(text, "EXIT CODES:")
		for line := range strings.Lines(section(text, "COMMANDS:")) {
			sub := strings.Fields(line)[0]
			text := strings.TrimSuffix(help(t, filepath.Join(bin, name), sub), "\nEXIT CODES:\n"+codes)
			fmt.Fprintf(&page, "\n### %s %s\n\n```text\n%s```\n", name, sub, text)
		}
	}
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
		t.Errorf("%s does not show what the commands say (-commands +page): go test . -run TestCommandReference -update\n%s", commandsPage, diff)
	}
}

// buildCommands builds what people call, with the flags of scripts/lib.sh, so that either finds the other's work done.
func buildCommands(t *testing.T) (bin string) {
	t.Helper()
	bin = t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-o", bin, "./cmd/...")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	script := clean.Script(clean.Cluster{Name: "anna-digits", Root: "ml/anna-digits", Label: "mlframework.cluster"})
	if err := os.WriteFile(filepath.Join(bin, "infra-clean"), script, 0o700); err != nil {
		t.Fatal(err)
	}
	return bin
}

// help is what a command says of itself, whoever asks: nothing of this environment is in it.
func help(t *testing.T, command ...string) string {
	t.Helper()
	c := exec.CommandContext(t.Context(), command[0], append(command[1:len(command):len(command)], "--help")...)
	c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}
	out, err := c.Output()
	if err != nil || len(out) == 0 {
		t.Fatalf("%s --help: %v, %d bytes", strings.Join(command, " "), err, len(out))
	}
	return strings.TrimSpace(string(out)) + "\n"
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
