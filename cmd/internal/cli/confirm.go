package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// Agrees asks a question that yes or no answers, on the terminal of stdin, until ctx ends. Asked is
// false, and nothing is written, where stdin is no terminal.
func Agrees(
	ctx context.Context, stdin io.Reader, stderr io.Writer, question string,
) (agreed, asked bool) {
	f, ok := stdin.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return false, false
	}
	fmt.Fprintf(stderr, "%s [y/N] ", VisibleLines(question))
	answer := make(chan string, 1)
	go func() { // the program ends while it waits, if it is interrupted
		text, err := bufio.NewReader(f).ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			text = ""
		}
		answer <- strings.ToLower(strings.TrimSpace(text))
	}()
	select {
	case a := <-answer:
		return a == "y" || a == "yes", true
	case <-ctx.Done():
		fmt.Fprintln(stderr)
		return false, true
	}
}
