package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"mlframework/cmd/internal/cli"
	"mlframework/cmd/run-tasks/display"
)

// terminal is what a command reads from and prints to.
type terminal struct {
	self           string // how hints begin: the program, and the place that was named
	stdin          io.Reader
	stdout, stderr *os.File
	messages       *display.Messages // for remarks that come while a sweep may be shown
}

// say prints lines to standard error.
func (t *terminal) say(lines ...string) {
	for _, line := range lines {
		fmt.Fprintln(t.stderr, cli.Visible(line))
	}
}

// note prints notes to standard error.
func (t *terminal) note(texts ...string) {
	for _, text := range texts {
		t.say("note: " + text)
	}
}

// warn prints warnings to standard error.
func (t *terminal) warn(texts ...string) {
	for _, text := range texts {
		t.say("WARNING: " + text)
	}
}

// field prints one line of a description.
func (t *terminal) field(name, value string) {
	fmt.Fprintf(t.stdout, "%-10s  %s\n", name, cli.Visible(value))
}

// agrees asks for a confirmation, which yes gives without a question. Asked is false if it cannot
// ask without a terminal.
func (t *terminal) agrees(ctx context.Context, yes bool, question string) (agreed, asked bool) {
	if yes {
		return true, true
	}
	return cli.Agrees(ctx, t.stdin, t.stderr, question)
}

// confirm asks whether something is to be removed. The error says why it is not: remedy is for one
// who cannot be asked.
func (t *terminal) confirm(ctx context.Context, yes bool, question, remedy string) error {
	switch agreed, asked := t.agrees(ctx, yes, question); {
	case !asked:
		return cli.Wrong(remedy, "cannot ask for confirmation without a terminal")
	case ctx.Err() != nil:
		return cli.Code(cli.Interrupted)
	case !agreed:
		fmt.Fprintln(t.messages, "nothing was removed")
		return cli.Code(cli.Failed)
	}
	return nil
}

// noteDetached tells how to see a sweep again that keeps running.
func (t *terminal) noteDetached(id string) {
	fmt.Fprintf(t.stderr, "%s keeps running; to follow it: %s follow %s\n", id, t.self, id)
}
