package site

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/term"

	"mlframework/cmd/internal/cli"
	"mlframework/infra/filesync"
	"mlframework/projects"
	"mlframework/sweep/definition"
)

// Project reads the project of the configuration: its files, and its tasks.yml. A large one needs a
// person's word, by yes or on the terminal. Without a project both are nil.
func (s *Site) Project(ctx context.Context, stdin *os.File, yes bool) (*projects.Manifest,
	*definition.File, error) {
	dir := s.Config.Options.Project
	if dir == "" {
		return nil, nil, nil
	}
	file, warnings, err := definition.Load(dir, nil)
	for _, w := range warnings {
		fmt.Fprintln(s.stderr, "warning: "+cli.Visible(w.String()))
	}
	if err != nil {
		return nil, nil, err
	}
	files, err := projects.Scan(ctx, dir, projects.Options{Cache: HashCache(dir)})
	if err != nil {
		return nil, nil, err
	}
	return files, file, s.confirm(files, stdin, yes)
}

// confirm asks before a large project is brought anywhere.
func (s *Site) confirm(files *projects.Manifest, stdin *os.File, yes bool) error {
	err := filesync.CheckSize(files)
	large, ok := errors.AsType[*filesync.LargeError](err)
	if yes || !ok {
		return nil
	}
	if !term.IsTerminal(int(stdin.Fd())) {
		return &cli.Error{Code: cli.Usage, Err: large}
	}
	fmt.Fprintf(s.stderr, "%s\nBring it to the hosts? [y/N] ", cli.VisibleLines(large.Error()))
	answer, err := bufio.NewReader(stdin).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if a := strings.ToLower(strings.TrimSpace(answer)); a != "y" && a != "yes" {
		return &cli.Error{Code: cli.Interrupted, Err: errors.New("nothing was changed")}
	}
	return nil
}

// HashCache is the file with the hashes of a project's files, in the user's own folder for such; ""
// is none, which only costs time.
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
