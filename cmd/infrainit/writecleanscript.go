package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"mlframework/cmd/internal/cli"
	"mlframework/cmd/internal/site"
	"mlframework/config"
	"mlframework/infra/clean"
	"mlframework/infra/layout"
)

// writeClean writes infra-clean for the hosts of a record, and returns its file: before anything is
// changed, so that whatever happens can be cleaned, and when those that leave have left.
func writeClean(s *site.Site, r layout.Record) (file string, err error) {
	if file, err = cleanScript(s.Config.File, r.Cluster); err != nil {
		return "", err
	}
	part := file + ".part"
	if err := os.WriteFile(part, s.CleanScript(r), 0o755); err != nil {
		return "", err
	}
	if err := os.Rename(part, file); err != nil {
		return "", err
	}
	return file, removeStale(file, r.Cluster)
}

// removeStale removes the script of before where a cluster's script has got another name: it cleans
// the hosts of before.
func removeStale(file, cluster string) error {
	other, had := strings.CutSuffix(file, "-"+cluster)
	if !had {
		other = file + "-" + cluster
	}
	text, err := os.ReadFile(other)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && clean.ClusterOf(text) == cluster {
		err = os.Remove(other)
	}
	return err
}

// cleanScript returns the file of the script beside a configuration: infra-clean, and
// infra-clean-other for other.yml. Where the script of another cluster is, it adds the cluster's
// name.
func cleanScript(configFile, cluster string) (string, error) {
	folder, base := filepath.Split(configFile)
	script := "infra-clean"
	if !config.Usual(base) {
		script += "-" + strings.TrimSuffix(base, filepath.Ext(base))
	}
	for _, name := range []string{script, script + "-" + cluster} {
		text, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		if of := clean.ClusterOf(text); of == "" || of == cluster {
			return filepath.Join(folder, name), nil
		}
	}
	return "", cli.Wrong("call infrainit in another folder, or move those that are here",
		"%s and %[1]s-%s are the scripts of other clusters", script, cluster)
}
