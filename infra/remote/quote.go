package remote

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// maxLine bounds a command line, in bytes: Linux takes 128 KiB for one argument (MAX_ARG_STRLEN).
const maxLine = 120 << 10

// script is the command as text for a POSIX shell.
func (c Command) script() (string, error) {
	switch {
	case len(c.Argv) > 0 && c.Script != "":
		return "", errors.New("a command has both Argv and Script")
	case len(c.Argv) == 0 && c.Script == "":
		return "", errors.New("a command has neither Argv nor Script")
	}
	s := c.Script
	if len(c.Argv) > 0 {
		s = "exec " + quoteAll(c.Argv)
	}
	if strings.ContainsRune(s, 0) {
		return "", errors.New("a command has a NUL byte, which no argument can hold")
	}
	return s, nil
}

// runVariable is in the environment of all that a command runs.
const runVariable = "MLFRAMEWORK_RUN"

// line is the command as sshd gives it to the user's login shell, which may be any: POSIX, csh,
// fish. It says that /bin/sh is to run the script, in words that all of them read alike. mark, the
// value of runVariable, is put into the environment, and printed on a line of its own before the
// script begins.
func (c Command) line(mark string) (string, error) {
	s, err := c.script()
	if err != nil {
		return "", err
	}
	// Between single quotes all is literal but these: ! and newline for csh, the backslash for
	// fish, the quote for all.
	begin := "exec env " + runVariable + "=" + mark + " /bin/sh -c 'echo $" + runVariable + ";"
	line := begin + s + "'"
	if strings.ContainsAny(s, "'!\\\n\r") {
		line = begin + `eval "$(printf %b "` + octal(s) + `")"'`
	}
	if len(line) > maxLine {
		return "", fmt.Errorf("a command line of %d bytes is more than the %d that a host takes: "+
			"send it as Stdin", len(line), maxLine)
	}
	return line, nil
}

// killLine ends, politely, all of the user's processes that have a mark in their environment. On a
// host that is busy the one that it is after may not have begun: it is looked for until there is
// one, for as long as patience.
func killLine(mark string, patience time.Duration) string {
	return `exec /bin/sh -c 'n=0; while [ $n -lt ` + strconv.Itoa(int(patience/killPause)) +
		` ]; do ` +
		`for p in $(grep -ls ` + mark +
		` /proc/[0-9]*/environ); do p=${p#/proc/}; kill -TERM ${p%/environ}; n=1000; done; ` +
		`[ $n = 1000 ] || sleep 0.1; n=$((n+1)); done'`
}

const (
	killPatience = 2 * time.Second
	killPause    = 100 * time.Millisecond
)

// octal writes what is special within two kinds of quotes, in whatever shell, as printf's %b reads
// it: \0ooo.
func octal(s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		if c < ' ' || c >= 0x7f || strings.IndexByte("'\"!\\$`", c) >= 0 {
			fmt.Fprintf(&b, `\0%03o`, c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// quoteAll makes words of a POSIX shell.
func quoteAll(argv []string) string {
	words := make([]string, len(argv))
	for i, a := range argv {
		words[i] = Quote(a)
	}
	return strings.Join(words, " ")
}

// Quote makes one word for a POSIX shell of any text without a NUL byte, for use in a Script.
func Quote(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
			strings.ContainsRune("-_./:@%+,", r)
	}
	if s != "" && strings.TrimFunc(s, plain) == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
