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

// Vault is the folder in which a master keeps the values of its sweeps: one file per sweep, mode
// 0600, in a folder of mode 0700. It is for one goroutine of one process.
type Vault struct{ folder string }

// Entry holds the values of one sweep. Edition changes whenever values are stored: it identifies
// them and reveals nothing about them.
type Entry struct {
	Edition string `json:"edition"`
	Values  Values `json:"values"`
	// PausedSince is when the sweep was paused; zero: it is not paused, or the time is
	// not known. See NotePaused.
	PausedSince time.Time `json:"paused_since,omitzero"`
}

// OpenVault opens the folder, and creates it if it does not exist. It removes the files of sweeps
// that do not need them, and those that a killed process left half written.
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
func (v *Vault) Get(sweep string) (k Entry, err error) {
	path, err := v.path(sweep)
	if err != nil {
		return k, err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return k, fmt.Errorf("read the secrets of %s: %w", sweep, err)
	}
	if json.Unmarshal(text, &k) != nil || k.Edition == "" {
		return Entry{},
			fmt.Errorf("read the secrets of %s: %s is not a secrets file of this program: %w",
				sweep, path, fs.ErrNotExist)
	}
	return k, nil
}

// StagedValues are values on disk that are not assigned to a sweep yet.
type StagedValues struct {
	vault   *Vault
	path    string
	edition string
}

// Stage writes values to the disk, so that what can fail fails before they are needed. Commit or
// Discard them.
func (v *Vault) Stage(values Values) (d *StagedValues, err error) {
	return v.stage(Entry{Edition: rand.Text(), Values: values})
}

func (v *Vault) stage(k Entry) (d *StagedValues, err error) {
	d = &StagedValues{vault: v, edition: k.Edition}
	text, err := json.Marshal(k)
	if err != nil {
		return nil, errors.New("store secrets: cannot encode them")
	}
	f, err := os.CreateTemp(v.folder, unfinishedPrefix+"*") // mode 0600
	if err != nil {
		return nil, fmt.Errorf("store secrets: %w", err)
	}
	d.path = f.Name()
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		d.Discard()
		return nil, fmt.Errorf("store secrets: %w", err)
	}
	return d, nil
}

// Commit assigns the values to a sweep, replaces those that it had, and returns their edition.
// After a nil error they survive any crash.
func (d *StagedValues) Commit(sweep string) (edition string, err error) {
	path, err := d.vault.path(sweep)
	if err == nil {
		err = os.Rename(d.path, path)
	}
	if err == nil {
		err = d.vault.sync()
	}
	if err != nil {
		return "", fmt.Errorf("store the secrets of %s: %w", sweep, err)
	}
	return d.edition, nil
}

// Discard removes values that were not committed. It may be called after Commit, and on nil.
func (d *StagedValues) Discard() {
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
	d, err := v.stage(k)
	if err != nil {
		return err
	}
	defer d.Discard()
	_, err = d.Commit(sweep)
	return err
}

// Remove forgets the values of a sweep. It is not an error if there are none.
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
		return "", fmt.Errorf("secrets: %q is not the name of a sweep", sweep)
	}
	return filepath.Join(v.folder, sweep), nil
}

// sync flushes the folder's entries to the disk.
func (v *Vault) sync() error {
	f, err := os.Open(v.folder)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
