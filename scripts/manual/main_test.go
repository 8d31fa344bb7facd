package main

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPage(t *testing.T) {
	t.Parallel()
	h := parse(`run-tasks try - try a pattern

USAGE:
   run-tasks try [options] NAME
   run-tasks try --all

Tries 'it'. The
second line.

   eval "$(it)"

EXAMPLES:
   # with a backslash
   run-tasks try '\d+'

COMMANDS:
   one  the first

OPTIONS (before or after NAME):
   -d FOLDER        project FOLDER
       --on A=B     with a text that
                    --goes on
   -q, --quiet, -s  print less
       --very-long-name NAME,...
                    below it

.mlframework is a folder.

EXIT CODES:
   0    success
   124  time
`)
	want := `.TH RUN\-TASKS\-TRY 1 2026-11-29 "mlframework 0.1.0" mlframework
.SH NAME
run\-tasks\-try \- try a pattern
.SH SYNOPSIS
.nf
run\-tasks try [options] NAME
run\-tasks try \-\-all
.fi
.SH DESCRIPTION
Tries \(aqit\(aq. The
second line.
.PP
.nf
   eval \(dq$(it)\(dq
.fi
.PP
\&.mlframework is a folder.
.SH COMMANDS
.TP
.BR run\-tasks\-try\-one (1)
the first
.SH OPTIONS
.TP
\fB\-d\fR \fIFOLDER\fR
project FOLDER
.TP
\fB\-\-on\fR \fIA=B\fR
with a text that \-\-goes on
.TP
.B \-q, \-\-quiet, \-s
print less
.TP
\fB\-\-very\-long\-name\fR \fINAME,...\fR
below it
.SH EXIT STATUS
.TP
.B 0
success
.TP
.B 124
time
.SH EXAMPLES
.nf
# with a backslash
run\-tasks try \(aq\ed+\(aq
.fi
.SH SEE ALSO
.BR run\-tasks (1)
`
	if diff := cmp.Diff(want, h.page(stamp{"2026-11-29", "0.1.0"})); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"one"}, h.subcommands()); diff != "" {
		t.Error(diff)
	}
}

// TestHelpOfCommands makes a page of every help in docs/commands.md. All of its options and
// commands are on the page, which groff, where it is installed, formats without a warning.
func TestHelpOfCommands(t *testing.T) {
	t.Parallel()
	commands, err := os.ReadFile("../../docs/commands.md")
	if err != nil {
		t.Fatal(err)
	}
	_, err = exec.LookPath("groff")
	groff := err == nil
	entry := regexp.MustCompile(`(?m)^(?:   (-\w)\b|       (--[a-z-]+))`)
	blocks := regexp.MustCompile("(?s)```text\n([a-z][^\n]* - .*?)```").
		FindAllStringSubmatch(string(commands), -1)
	if len(blocks) < 30 {
		t.Fatalf("%d helps in docs/commands.md", len(blocks))
	}
	for _, block := range blocks {
		h := parse(block[1])
		page := h.page(stamp{"2026-11-29", "0.1.0"})
		_, options, _ := strings.Cut(block[1], "\nOPTIONS")
		for _, m := range entry.FindAllStringSubmatch(options, -1) {
			if !strings.Contains(page, `B`+escape(m[1]+m[2])) &&
				!strings.Contains(page, `.B `+escape(m[1]+m[2])) {
				t.Errorf("the page of %s does not have the option %s", h.name, m[1]+m[2])
			}
		}
		if len(h.usage) == 0 || h.summary == "" {
			t.Errorf("the page of %s lacks a part:\n%s", h.name, page)
		}
		if !groff {
			continue
		}
		c := exec.CommandContext(t.Context(), "groff", "-man", "-ww", "-Tutf8", "-z")
		c.Stdin = strings.NewReader(page)
		if out, err := c.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("groff on the page of %s: %v\n%s", h.name, err, out)
		}
	}
}
