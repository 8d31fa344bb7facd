package monitor

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode"
)

// LinkLife is how long a login link works.
const LinkLife = 5 * time.Minute

// linkFolder has one file for each login link that was not used yet, named by a hash of its code.
// A login removes the file first: so a link works once, also when two browsers try at the same
// moment or the monitor was started again.
const linkFolder = "links"

// loginLink is the content of a link's file.
type loginLink struct {
	Role    Role      `json:"role"`
	User    string    `json:"user,omitempty"`
	Expires time.Time `json:"expires"`
}

// Link makes a login link for the monitor with a state folder, which need not run yet: it works
// once, for LinkLife. Base is the monitor's address as the browser has it, with its prefix:
// "http://127.0.0.1:5555/". User is who logs in, for the audit; "": it is not known.
func Link(state, base string, role Role, user string, now time.Time) (string, error) {
	at, err := checkLink(state, base)
	if err != nil {
		return "", err
	}
	if strings.ContainsFunc(user, unicode.IsControl) {
		return "", fmt.Errorf("%q is not the name of a user", user)
	}
	if err := removeUnused(filepath.Join(state, linkFolder), now); err != nil {
		return "", err
	}
	code := rand.Text()
	text, err := json.Marshal(loginLink{role, user, now.Add(LinkLife).UTC()})
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(linkFile(state, code), text, 0o600); err != nil {
		return "", fmt.Errorf("make a login link: %w", err)
	}
	at = at.JoinPath("login")
	at.RawQuery = url.Values{"code": {code}}.Encode()
	return at.String(), nil
}

// checkLink reads the monitor's address, and makes sure that there is a monitor.
func checkLink(state, base string) (*url.URL, error) {
	at, err := url.Parse(base)
	if err != nil || at.Host == "" || at.Scheme != "http" && at.Scheme != "https" ||
		at.RawQuery != "" || at.Fragment != "" || at.User != nil {
		return nil, fmt.Errorf("%q is not the address of a monitor: write http://HOST:PORT/, and "+
			"the prefix if it has one", base)
	}
	if _, err := os.Stat(filepath.Join(state, tokenFile)); err != nil {
		return nil, fmt.Errorf("%s is not the state folder of a monitor that was started: %w",
			state, err)
	}
	return at, nil
}

func linkFile(state, code string) string {
	sum := sha256.Sum256([]byte(code))
	return filepath.Join(state, linkFolder, hex.EncodeToString(sum[:]))
}

// removeUnused removes the files of links that nobody used in time.
func removeUnused(folder string, now time.Time) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return fmt.Errorf("make a login link: %w", err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && now.Sub(info.ModTime()) > 2*LinkLife {
			err = os.Remove(filepath.Join(folder, e.Name()))
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("make a login link: %w", err)
		}
	}
	return nil
}

// redeemLink uses up the code of a link, and returns its role and user; Nobody if the link is
// invalid, used or expired.
func (k tokens) redeemLink(code string, now time.Time) (role Role, user string) {
	if !codeShape.MatchString(code) {
		return Nobody, ""
	}
	path := linkFile(k.state, code)
	text, err := os.ReadFile(path)
	if err != nil || os.Remove(path) != nil {
		return Nobody, ""
	}
	var l loginLink
	if json.Unmarshal(text, &l) != nil || now.After(l.Expires) ||
		l.Role != Viewer && l.Role != Operator {
		return Nobody, ""
	}
	return l.Role, l.User
}
