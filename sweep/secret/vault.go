package secret

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Vault is the folder in which a master keeps the values of its sweeps: a file for each, mode 0600,
// below a folder of mode
// 0700. It is for one goroutine of one process.
type Vault struct{ folder string }

// Kept is the values of one sweep. Edition is other with every time that values are put: it says
// which are meant, and nothing of them.
type Kept struct {
	Edition string `json:"edition"`
	Values  Values `json:"values"`
	// PausedSince is when the sweep was paused; zero: it is not, or nobody noted it. See
	// NotePaused.
	PausedSince time.Time `json:"paused_since,omitzero"`
}

// OpenVault makes the folder when it is not there. It removes what is not of a sweep that needs it:
// what was left by a process that was killed.
func OpenVault(folder string, needed func(sweep string) bool) (*Vault, error) {
	err := os.MkdirAll(folder, 0o700)
	if err == nil {
		err = os.Chmod(folder, 0o700)
	}
	v := &Vault{folder}
	if err == nil {
		err = v.clean(needed)
	}
	if err != nil {
		return nil, fmt.Errorf("open the folder of secrets: %w", err)
	}
	return v, nil
}

func (v *Vault) clean(needed func(sweep string) bool) error {
	entries, err := os.ReadDir(v.folder)
	for _, e := range entries {
		if name := e.Name(); unfinished(name) || !needed(name) {
			err = errors.Join(err, os.RemoveAll(filepath.Join(v.folder, name)))
		}
	}
	return err
}

// unfinishedPrefix begins the names of files that are being written; no sweep's name begins so.
const unfinishedPrefix = ".new-"

func unfinished(name string) bool { return strings.HasPrefix(name, unfinishedPrefix) }

// Get reads the values of a sweep. The error is fs.ErrNotExist when there are none.
func (v *Vault) Get(sweep string) (k Kept, err error) {
	path, err := v.path(sweep)
	if err != nil {
		return k, err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return k, fmt.Errorf("read the secrets of %s: %w", sweep, err)
	}
	if json.Unmarshal(text, &k) != nil || k.Edition == "" {
		return Kept{}, fmt.Errorf("read the secrets of %s: %s is no file of this program: %w",
			sweep, path, fs.ErrNotExist)
	}
	return k, nil
}

// Draft is values that are on disk and not yet those of a sweep.
type Draft struct {
	vault   *Vault
	path    string
	edition string
}

// Draft writes values to the disk, so that what can fail fails before they are needed. Keep or Drop
// it.
func (v *Vault) Draft(values Values) (d *Draft, err error) {
	return v.draft(Kept{Edition: rand.Text(), Values: values})
}

func (v *Vault) draft(k Kept) (d *Draft, err error) {
	d = &Draft{vault: v, edition: k.Edition}
	text, err := json.Marshal(k)
	if err != nil {
		return nil, errors.New("keep secrets: they cannot be written")
	}
	f, err := os.CreateTemp(v.folder, unfinishedPrefix+"*") // mode 0600
	if err != nil {
		return nil, fmt.Errorf("keep secrets: %w", err)
	}
	d.path = f.Name()
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		d.Drop()
		return nil, fmt.Errorf("keep secrets: %w", err)
	}
	return d, nil
}

// Keep makes the values those of a sweep, instead of others that it had, and returns their edition.
// When it returns nil they survive any crash.
func (d *Draft) Keep(sweep string) (edition string, err error) {
	path, err := d.vault.path(sweep)
	if err == nil {
		err = os.Rename(d.path, path)
	}
	if err == nil {
		err = d.vault.sync()
	}
	if err != nil {
		return "", fmt.Errorf("keep the secrets of %s: %w", sweep, err)
	}
	return d.edition, nil
}

// Drop removes values that were not kept. It may be called after Keep, and on nil.
func (d *Draft) Drop() {
	if d != nil {
		_ = os.Remove(d.path) // the next start removes it otherwise
	}
}

// NotePaused notes beside the values of a sweep since when it has been paused; zero: it is not.
// They keep their edition.
func (v *Vault) NotePaused(sweep string, since time.Time) error {
	k, err := v.Get(sweep)
	if err != nil {
		return err
	}
	k.PausedSince = since.UTC()
	d, err := v.draft(k)
	if err != nil {
		return err
	}
	defer d.Drop()
	_, err = d.Keep(sweep)
	return err
}

// Remove forgets the values of a sweep. It is no error when there are none.
func (v *Vault) Remove(sweep string) error {
	path, err := v.path(sweep)
	if err != nil {
		return err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the secrets of %s: %w", sweep, err)
	}
	return nil
}

// path returns the file of a sweep, whose name must not lead anywhere else.
func (v *Vault) path(sweep string) (string, error) {
	if sweep == "" || strings.HasPrefix(sweep, ".") || strings.ContainsAny(sweep, "/\x00") {
		return "", fmt.Errorf("secrets: %q is no sweep", sweep)
	}
	return filepath.Join(v.folder, sweep), nil
}

// sync brings the names of the folder to the disk.
func (v *Vault) sync() error {
	f, err := os.Open(v.folder)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
