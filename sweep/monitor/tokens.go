package monitor

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// tokenFile is the file in the state folder whose text logs in an operator.
const tokenFile = "token"

// shortestToken is how many characters a token has at least: those of a made one. Wrong tries are
// not limited.
const shortestToken = 26

// tokens are what opens a monitor: the token, and the links in its state folder.
type tokens struct{ state, token string }

// openTokens reads the token, and makes it if it is not there.
func openTokens(state string) (k tokens, err error) {
	if err := os.MkdirAll(filepath.Join(state, linkFolder), 0o700); err != nil {
		return k, fmt.Errorf("make the monitor's state folder: %w", err)
	}
	token, err := openToken(filepath.Join(state, tokenFile))
	return tokens{state, token}, err
}

// openToken reads a token that only its owner may read, or makes it. An empty file has no token: a
// start that was killed has left it.
func openToken(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if err == nil && (!info.Mode().IsRegular() || info.Mode().Perm()&0o077 != 0) {
		return "",
			fmt.Errorf(
				"the monitor's token %s is not for its owner alone (%s): chmod 600 it, or remove "+
					"it and it is made anew", path, info.Mode())
	}
	if err != nil || info.Size() == 0 {
		if err := makeToken(path, os.Link); err != nil {
			return "", fmt.Errorf("make the monitor's token: %w", err)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	token := strings.TrimSpace(string(text))
	if len(token) < shortestToken {
		return "",
			fmt.Errorf(
				"the monitor's token %s has less than %d characters: remove it and it is made "+
					"anew, or write a longer one", path, shortestToken)
	}
	return token, nil
}

// makeToken makes a file with a new token, whole or not at all, by a link. Where another monitor
// that starts at the same time was faster, its token stays. An empty file is replaced. In a file
// system without hard links the file is written in its place: a start that is killed meanwhile may
// leave less.
func makeToken(path string, link func(from, to string) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	text := rand.Text() + "\n" // 130 bits
	if err := writeToken(f, text); err != nil {
		return err
	}
	if info, err := os.Stat(path); err == nil && info.Size() == 0 {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	err = link(f.Name(), path)
	if slices.ContainsFunc(noLinks, func(none error) bool { return errors.Is(err, none) }) {
		if f, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); err == nil {
			err = writeToken(f, text)
		}
	}
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// noLinks are the errors of a file system without hard links.
var noLinks = []error{syscall.EPERM, syscall.ENOTSUP, syscall.EOPNOTSUPP, syscall.ENOSYS}

func writeToken(f *os.File, text string) error {
	_, err := f.WriteString(text)
	return errors.Join(err, f.Sync(), f.Close())
}

// role returns whose token this is.
func (k tokens) role(token string) Role {
	if equalSecrets(token, k.token) {
		return Operator
	}
	return Nobody
}
