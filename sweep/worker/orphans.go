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

// orphanTime bounds the ending of what was left behind.
const orphanTime = 5 * time.Second

// EndOrphans ends what an earlier worker of the same name and outputs, an absolute path, left behind: both of its
// processes were killed at once, and removes the files of its secrets, which are where Options.SecretsFolder says. It is called before a worker starts, by who holds the
// locks (see Acquire). Where there are no locks it still leaves alone what a living worker runs: what it would end there
// would count as the failure of those programs.
func EndOrphans(ctx context.Context, name, outputs, secrets string, log *slog.Logger) error {
	ctx, cancel := context.WithTimeout(ctx, orphanTime)
	defer cancel()
	killed, err := process.KillOrphans(ctx, func(environ []string) bool {
		here := func(v string) bool { return strings.HasPrefix(v, "OUTPUT_DIR="+outputs+string(filepath.Separator)) }
		kept := func(v string) bool {
			owner, is := strings.CutPrefix(v, workerProcess+"=")
			return is && process.Alive(owner)
		}
		return slices.Contains(environ, "WORKER="+name) && slices.ContainsFunc(environ, here) && !slices.ContainsFunc(environ, kept)
	})
	if killed > 0 {
		log.Info("ended what an earlier, killed run had left", "processes", killed)
	}
	if err = errors.Join(err, clearShelves(name, outputs, secrets)); err != nil {
		return fmt.Errorf("end what an earlier run left: %w", err)
	}
	return nil
}
