package project

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"mlframework/cmd/internal/cli"
	"mlframework/sweep/definition"
	"mlframework/sweep/human"
)

// userConfig returns the path of the user's own config.yml; "" if there is no home folder.
func userConfig() string {
	folder := os.Getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(folder) { // the specification says to ignore such a value
		home, err := os.UserHomeDir()
		if err != nil {
			return ""
		}
		folder = filepath.Join(home, ".config")
	}
	return filepath.Join(folder, "mlframework", "config.yml")
}

// readNotify reads who is told of a sweep: as tasks.yml says, else as the user's own config.yml.
// A master of workers has no programs that it could run.
func (p *Project) readNotify(at Location) error {
	const remedy = "write notify: {url: ...}, or run the sweep with --local"
	switch p.notify = p.File.Notify; {
	case p.notify != nil && len(p.notify.Command) > 0 && at != Here:
		return &cli.Error{Code: cli.Invalid, Err: errors.New("notify in tasks.yml: command runs " +
			"on this machine only, and this sweep runs at a master"), Remedy: remedy}
	case p.notify != nil:
		return p.checkNotify("notify in tasks.yml")
	}
	file := userConfig()
	if file == "" {
		return nil
	}
	n, err := definition.LoadUser(file)
	if n != nil && len(n.Command) > 0 && at != Here {
		p.Notes = append(p.Notes, "the command of notify in "+file+" runs on this machine only: "+
			"nobody is told of this sweep; "+remedy)
		return nil
	}
	if p.notify = n; err != nil {
		return err
	}
	return p.checkNotify("notify in " + file)
}

// checkNotify refuses a command of a notification that does not exist: it would fail at the end of
// the sweep only. It runs in the project's folder.
func (p *Project) checkNotify(where string) error {
	if p.notify == nil || len(p.notify.Command) == 0 {
		return nil
	}
	name := p.notify.Command[0]
	if strings.Contains(name, "/") && !filepath.IsAbs(name) {
		name = filepath.Join(p.Dir, name)
	}
	_, err := exec.LookPath(name)
	switch {
	case err == nil || errors.Is(err, exec.ErrDot):
		return nil
	case errors.Is(err, fs.ErrPermission):
		return &cli.Error{Code: cli.Invalid, Err: fmt.Errorf("%s: %s is not executable", where,
			p.notify.Command[0]), Remedy: "chmod +x " + human.CommandLine([]string{name})}
	}
	return &cli.Error{Code: cli.Invalid, Err: fmt.Errorf("%s: there is no program %s", where,
		p.notify.Command[0]), Remedy: "check its spelling; a path is relative to the project's folder"}
}
