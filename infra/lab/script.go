package lab

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"mlframework/scripts"
)

// patience bounds whatever is asked of scripts and Docker. On two idle cores a lab is up after ten
// seconds, and making an image takes a minute or two.
const patience = 5 * time.Minute

// own brings up a lab for this process, once. It goes when the process has ended.
var own = sync.OnceValues(func() (string, error) {
	if _, err := script("lab", "check"); err != nil {
		return "", missing{err.Error()}
	}
	name := "test-" + strconv.Itoa(os.Getpid())
	_, err := script("lab", "up", name, "--registry", "--while", strconv.Itoa(os.Getpid()))
	return name, err
})

// script runs one of the project's scripts and gives what it printed.
func script(name string, args ...string) (string, error) {
	file, err := scripts.Path(name)
	if err != nil {
		return "", err
	}
	return run(nil, file, args...)
}

// docker asks this machine's Docker. It is the command, as only infra/docker may know the client's
// library.
func docker(args ...string) (string, error) { return run(nil, "docker", args...) }

// run runs a command and gives what it printed.
func run(stdin []byte, name string, args ...string) (string, error) {
	ctx, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(stdin), &stdout, &stderr
	cmd.WaitDelay = 20 * time.Second // what it started may have its output
	if err := cmd.Run(); err != nil {
		return stdout.String(), fmt.Errorf("%s %s: %w\n%s", filepath.Base(name),
			strings.Join(args, " "), err, strings.TrimSpace(stderr.String()))
	}
	return stdout.String(), nil
}
