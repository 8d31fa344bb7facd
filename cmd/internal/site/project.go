package site

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"mlframework/cmd/internal/cli"
	"mlframework/infra"
	"mlframework/infra/filesync"
	"mlframework/projects"
	"mlframework/sweep/definition"
)

// Project reads the files and tasks.yml of the configured project. Both are nil without a project.
func (s *Site) Project(ctx context.Context) (*projects.Manifest, *definition.File, error) {
	dir := s.Config.Options.Project
	if dir == "" {
		return nil, nil, nil
	}
	file, warnings, err := definition.Load(dir, Reserved())
	for _, w := range warnings {
		fmt.Fprintln(s.stderr, "warning: "+cli.Visible(w.String()))
	}
	if err != nil {
		return nil, nil, err
	}
	files, err := projects.Scan(ctx, dir, projects.Options{Cache: HashCache(dir)})
	if err == nil && files.SkippedNote() != "" {
		fmt.Fprintln(s.stderr, "note: "+files.SkippedNote())
	}
	return files, file, err
}

// Large returns what asks before a large project is brought to hosts: nobody with yes, else
// the person on the terminal, once.
func (s *Site) Large(ctx context.Context, stdin *os.File, yes bool) infra.Large {
	var once sync.Mutex
	var asked bool
	var answer error
	return func(large *filesync.LargeError) error {
		once.Lock()
		defer once.Unlock()
		if !yes && !asked {
			asked, answer = true, s.confirm(ctx, large, stdin)
		}
		return answer
	}
}

func (s *Site) confirm(
	ctx context.Context, large *filesync.LargeError, stdin *os.File,
) error {
	s.Printer.Clear()
	switch agreed, asked := cli.Agrees(ctx, stdin, s.stderr, large.Error()+"\nUpload them?"); {
	case !asked:
		return &cli.Error{Code: cli.Usage, Err: large, Remedy: LargeRemedy + "--yes"}
	case !agreed:
		return &cli.Error{Code: cli.Interrupted, Err: errors.New("nothing was uploaded")}
	}
	return nil
}

// LargeRemedy says what to do about a large project; the option that confirms it is appended.
const LargeRemedy = "leave out what programs do not need with lines in .mlframeworkignore, or " +
	"confirm with "

// HashCache returns the file that keeps the hashes of a project's files, in the user's cache
// folder; "" if there is no such folder, which only costs time.
func HashCache(dir string) string {
	folder, err := os.UserCacheDir()
	if err == nil {
		folder = filepath.Join(folder, "mlframework", "hashes")
		err = os.MkdirAll(folder, 0o700)
	}
	if err != nil {
		return ""
	}
	if path, err := filepath.Abs(dir); err == nil {
		dir = path
	}
	sum := sha256.Sum256([]byte(dir))
	return filepath.Join(folder, hex.EncodeToString(sum[:8]))
}
