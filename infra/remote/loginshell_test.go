package remote_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"mlframework/infra/remote"
)

// What files of a login shell print is no part of what a command prints, however long it is, nor of
// what a connection through a command brings.
func TestLoginShellsThatPrint(t *testing.T) {
	t.Parallel()
	for name, prints := range map[string]string{
		"a line":          "echo Welcome to gpu2",
		"no line":         "printf Welcome",
		"much":            "seq 100000",
		"its own command": "echo $SSH_ORIGINAL_COMMAND",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const command = `; exec /bin/sh -c "$SSH_ORIGINAL_COMMAND"`
			h, _, _ := connected(t, "ForceCommand "+prints+command)
			var out bytes.Buffer
			err := h.Run(t.Context(), remote.Command{Argv: []string{"printf", "a\nb"},
				Stdout: &out})
			if err != nil || out.String() != "a\nb" {
				t.Errorf("%.200q, %v", out.String(), err)
			}
			conn, err := h.Pipe(t.Context(), remote.Command{Argv: []string{"cat"}})
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if _, err := io.WriteString(conn, "12345"); err != nil {
				t.Fatal(err)
			}
			got := make([]byte, 5)
			if _, err := io.ReadFull(conn, got); err != nil || string(got) != "12345" {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
	t.Run("no command runs", func(t *testing.T) {
		t.Parallel()
		h, _, _ := connected(t, "ForceCommand echo 'This account is not available.'; exit 1")
		err := h.Run(t.Context(), remote.Command{Argv: []string{"true"}})
		exit, is := errors.AsType[*remote.ExitError](err)
		if !is || !strings.Contains(exit.Stderr, "not available") {
			t.Errorf("%v", err)
		}
	})
}
