package remote

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/kevinburke/ssh_config"
)

// config is the user's ~/.ssh/config and the system's, in the order in which they count.
type config []*ssh_config.Config

// readConfig reads the files that exist. What cannot be used is left out with a warning: a Match line that runs programs must
// not take the other hosts with it.
func readConfig(files []string, warn func(string)) config {
	var c config
	for _, file := range files {
		text, err := os.ReadFile(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			warn(fmt.Sprintf("%s is not used: %s", file, plain(err)))
			continue
		}
		parsed, err := ssh_config.DecodeBytes([]byte(understood(file, string(text), warn)))
		if err != nil {
			warn(fmt.Sprintf("%s is not used, because this cannot be read: %s", file, clip(err.Error())))
			continue
		}
		c = append(c, parsed)
	}
	return c
}

// understood drops the blocks of a file that begin with a Match that the library does not know, or takes for another.
func understood(file, text string, warn func(string)) string {
	lines := strings.SplitAfter(text, "\n")
	dropping := false
	for i, line := range lines {
		words := strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" \t\r\n=", r) })
		if len(words) == 0 {
			continue
		}
		switch strings.ToLower(words[0]) {
		case "host":
			dropping = false
		case "match":
			dropping = false
			switch what := strings.ToLower(strings.Join(words[1:min(2, len(words))], "")); {
			case what == "all" && len(words) == 2:
			case (what == "host" || what == "originalhost") && len(words) == 3:
				lines[i] = "Host " + strings.ReplaceAll(words[2], ",", " ") + "\n"
			default:
				dropping = true
				warn(fmt.Sprintf("%s:%d: %q and what stands below it is not used here: Match is understood with one host or all",
					file, i+1, clip(line)))
			}
		case "include":
			if filepath.Dir(file) == "/etc/ssh" {
				for n, w := range words[1:] {
					if !filepath.IsAbs(w) {
						words[n+1] = filepath.Join("/etc/ssh", w)
					}
				}
				lines[i] = strings.Join(words, " ") + "\n"
			}
		}
		if dropping {
			lines[i] = "\n"
		}
	}
	return strings.Join(lines, "")
}

// get gives the first value of a keyword for a host, "" if there is none.
func (c config) get(alias, key string) string {
	for _, file := range c {
		if v, err := file.Get(alias, key); err == nil && v != "" {
			return v
		}
	}
	return ""
}

// all gives every value of a keyword that may stand several times.
func (c config) all(alias, key string) (values []string) {
	for _, file := range c {
		if v, err := file.GetAll(alias, key); err == nil {
			values = append(values, v...)
		}
	}
	return values
}

// yes tells whether a switch is on.
func (c config) yes(alias, key string) bool { return strings.EqualFold(c.get(alias, key), "yes") }
