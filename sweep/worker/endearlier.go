package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mlframework/sweep/worker/process"
)

// leftoverTimeout limits the time to end leftovers.
const leftoverTimeout = 5 * time.Second

// EndLeftovers ends the processes that an earlier worker with the same name and outputs, an
// absolute path, left behind because both of its processes were killed at once, and removes the
// files of its secrets, which are below secrets (see Options.SecretsFolder). Call it before a
// worker starts, with its locks held (see Acquire). Even without locks it spares the programs of a
// living worker, for which being killed would count as a failure.
func EndLeftovers(ctx context.Context, name, outputs, secrets string, log *slog.Logger) error {
	ctx, cancel := context.WithTimeout(ctx, leftoverTimeout)
	defer cancel()
	killed, err := process.KillLeftovers(ctx, func(environ []string) bool {
		prefix := "OUTPUT_DIR=" + outputs + string(filepath.Separator)
		here := func(v string) bool { return strings.HasPrefix(v, prefix) }
		kept := func(v string) bool {
			owner, is := strings.CutPrefix(v, workerProcess+"=")
			return is && process.Alive(owner)
		}
		return slices.Contains(environ, "WORKER="+name) && slices.ContainsFunc(environ, here) &&
			!slices.ContainsFunc(environ, kept)
	})
	if killed > 0 {
		log.Info("ended processes that an earlier, killed worker left behind", "processes", killed)
	}
	if err = errors.Join(err, removeSecretDirs(name, outputs, secrets)); err != nil {
		return fmt.Errorf("end what an earlier run left: %w", err)
	}
	return nil
}
