package monitor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// A grant is what the sessions of one link stand on: they end when it is revoked. A grant also
// makes the host of its link one of the monitor's names, where that is NAME-ID.localhost: a name
// that a browser uses for nothing else, so that no other program on the browser's machine is sent
// its cookies.
//
// grantFolder has a file with the host for each, named by the grant's id. Files, as whoever makes
// and revokes grants is another process.
const grantFolder = "grants"

// localDomain is the domain whose names are all the machine's own (RFC 6761).
const localDomain = ".localhost"

// grantShape is the id of a grant. It is part of a host, and names a file.
var grantShape = regexp.MustCompile(`^[a-z0-9]{16,64}$`)

func checkGrant(id string) error {
	if !grantShape.MatchString(id) {
		return fmt.Errorf("%q is not the id of a grant: write 16 to 64 lower-case letters and "+
			"digits", id)
	}
	return nil
}

// Grant makes a login link as Link does, whose sessions end when the grant is revoked. The id is
// the caller's to choose, at random.
func Grant(state, id, base string, role Role, now time.Time) (string, error) {
	if err := checkGrant(id); err != nil {
		return "", err
	}
	at, err := checkLink(state, base)
	if err != nil {
		return "", err
	}
	folder := filepath.Join(state, grantFolder)
	if err := removeOlder(folder, now, sessionMaxAge+LinkLife); err != nil {
		return "", err
	}
	host := ""
	if name := hostOnly(at.Host); grantOf(name) == id {
		host = name
	}
	path := filepath.Join(folder, id)
	if err := os.WriteFile(path, []byte(host), 0o600); err != nil {
		return "", fmt.Errorf("make a login link: %w", err)
	}
	link, err := makeLink(state, at, loginLink{Role: role, Grant: id}, now)
	if err != nil {
		return "", errors.Join(err, os.Remove(path))
	}
	return link, nil
}

// Revoke ends the sessions of a grant, and its link where that was not used. A grant that is
// revoked already is none.
func Revoke(state, id string) error {
	if err := checkGrant(id); err != nil {
		return err
	}
	err := os.Remove(filepath.Join(state, grantFolder, id))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("end the sessions of a login link: %w", err)
	}
	return nil
}

// grantOf returns the id in a host NAME-ID.localhost; "": it is another.
func grantOf(host string) string {
	label, local := strings.CutSuffix(host, localDomain)
	id := label[strings.LastIndexByte(label, '-')+1:]
	if !local || !grantShape.MatchString(id) {
		return ""
	}
	return id
}

// grants are those in a state folder.
type grants string

// holds reports whether a grant is there.
func (g grants) holds(id string) bool {
	_, err := os.Stat(filepath.Join(string(g), grantFolder, id))
	return err == nil
}

// allows reports whether a host is that of a grant.
func (g grants) allows(host string) bool {
	id := grantOf(host)
	if id == "" {
		return false
	}
	have, err := os.ReadFile(filepath.Join(string(g), grantFolder, id))
	return err == nil && string(have) == host
}
