package docker

import (
	"context"
	"io"
	"strconv"
	"time"

	"github.com/docker/docker/api/types/container"
)

// LogOptions say what of a container's output is wanted. The zero value is all that is kept.
type LogOptions struct {
	Follow bool      // go on until the container ends
	Tail   int       // only the last lines; 0: all
	Since  time.Time // only what came from then on
	Times  bool      // each line begins with its time, RFC 3339
}

// Logs writes to out what a container printed, output and error in the order in which Docker took
// them in. While it follows it ends with the container, or as Cancelled with the context.
func (e *Engine) Logs(ctx context.Context, name string, o LogOptions, out io.Writer) error {
	op := "read the log of container " + name
	ask := container.LogsOptions{ShowStdout: true, ShowStderr: true, Follow: o.Follow,
		Timestamps: o.Times}
	if o.Tail > 0 {
		ask.Tail = strconv.Itoa(o.Tail)
	}
	if !o.Since.IsZero() {
		ask.Since = o.Since.Format(time.RFC3339Nano)
	}
	body, err := e.api.ContainerLogs(ctx, name, ask)
	if err != nil {
		return e.fail(op, err)
	}
	defer body.Close()
	err = demultiplex(out, out, body)
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return e.fail(op, err)
}
