package nvdocker

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"sync"
	"time"
)

// AnswerTime is how long a driver may take for one question. On a host with eight GPUs and without
// persistence mode some seconds are usual, as the driver begins anew with each question.
const AnswerTime = 10 * time.Second

//go:embed script.sh
var script string

// Script is a program for sh, and its arguments, whose output Parse reads: for hosts that are
// reached in other ways than Detect's. Each question to the driver takes at most limit, which is
// rounded up to seconds; after the first that takes longer no other is asked.
func Script(limit time.Duration) (program string, arguments []string) {
	return script, []string{strconv.Itoa(int((max(limit, 0) + time.Second - 1) / time.Second))}
}

// Detect reports the GPUs of this machine. A driver that does not answer costs limit and two
// seconds, whatever state it is in; limit 0 is AnswerTime. What could not be found out is the
// report's Fault, and no error: errors are those of starting sh, and ctx's.
func Detect(ctx context.Context, limit time.Duration) (Report, error) {
	if limit <= 0 {
		limit = AnswerTime
	}
	bounded, stop := context.WithCancel(ctx)
	defer stop()
	// A process that hangs in the driver outlives the script's own limit: nothing ends it. So the
	// script is left after a silence.
	silence := limit + time.Second
	timer := time.AfterFunc(silence, stop)
	defer timer.Stop()
	program, arguments := Script(limit)
	cmd := exec.CommandContext(bounded, "sh", append([]string{"-c", program, "sh"},
		arguments...)...)
	cmd.WaitDelay = time.Second
	out := &output{heard: func() { timer.Reset(silence) }}
	cmd.Stdout = out
	err := cmd.Run()
	switch {
	case ctx.Err() != nil:
		return Report{}, ctx.Err()
	case errors.Is(err, exec.ErrNotFound):
		return Report{}, fmt.Errorf("GPUs are found out with sh: %w", err)
	}
	return Parse(out.text()), nil // what a script that was left did not print is a fault there
}

// mostOutput bounds what is read of a script's output, in bytes.
const mostOutput = 4 << 20

// output keeps what fits of a script's output, and drops the rest.
type output struct {
	heard func()

	mu   sync.Mutex // it may be written to after the script was left
	kept bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.heard()
	o.mu.Lock()
	defer o.mu.Unlock()
	o.kept.Write(p[:min(len(p), mostOutput-o.kept.Len())])
	return len(p), nil
}

func (o *output) text() []byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	return bytes.Clone(o.kept.Bytes())
}
