package remote

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/kevinburke/ssh_config"
)

// config is the user's ~/.ssh/config and the system's, in the order in which they count.
type config []configFile

// A configFile is a file and those that it includes, each where a line with includeKey names it.
type configFile struct {
	blocks   []*ssh_config.Host
	included map[string]config // by the line's value
}

const (
	// includeKey takes the place of Include, as the library would read included files without
	// dropping what it does not understand.
	includeKey = "IncludeOfLine"
	// maxIncludes is how deep includes may be nested, as in ssh.
	maxIncludes = 16
	systemDir   = "/etc/ssh"
)

// readConfig reads the files that exist. What cannot be used is left out with a warning: a Match
// line that runs programs must not take the other hosts with it. home is what ~ is.
func readConfig(files []string, home string, warn func(string)) (c config) {
	for _, file := range files {
		r := configReader{home: home, dir: filepath.Join(home, ".ssh"), warn: warn}
		if filepath.Dir(file) == systemDir {
			r.dir = systemDir
		}
		c = append(c, r.read([]string{file}, 0)...)
		if r.tooDeep {
			warn(fmt.Sprintf("%s: includes are nested more than %d deep: the others are not used",
				file, maxIncludes))
		}
	}
	return c
}

// A configReader reads a file of the configuration with what it includes.
type configReader struct {
	home    string
	dir     string // of included files whose names are relative
	warn    func(string)
	tooDeep bool
}

func (r *configReader) read(files []string, depth int) (c config) {
	for _, file := range files {
		if r.tooDeep {
			return c
		}
		text, err := os.ReadFile(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			r.warn(fmt.Sprintf("%s is not used: %s", file, plain(err)))
			continue
		}
		f := configFile{included: map[string]config{}}
		parsed, err := ssh_config.DecodeBytes([]byte(r.understood(f, file, string(text), depth)))
		if err != nil {
			r.warn(fmt.Sprintf("%s is not used, because this cannot be read: %s", file,
				clip(err.Error())))
			continue
		}
		f.blocks = parsed.Hosts
		c = append(c, f)
	}
	return c
}

// understood drops the blocks of a file that begin with a Match that the library does not know, or
// takes for another, and reads what the others include.
func (r *configReader) understood(f configFile, file, text string, depth int) string {
	lines := strings.SplitAfter(text, "\n")
	dropping := false
	for i, line := range lines {
		words := strings.FieldsFunc(line, separates)
		if len(words) == 0 {
			continue
		}
		key := strings.ToLower(words[0])
		switch key {
		case "host":
			dropping = false
			lines[i] = strings.ReplaceAll(line, `"`, "") // which the library takes for a name's
		case "match":
			dropping = false
			switch what := strings.ToLower(strings.Join(words[1:min(2, len(words))], "")); {
			case what == "all" && len(words) == 2:
			case (what == "host" || what == "originalhost") && len(words) == 3:
				lines[i] = "Host " + hostsOfMatch.Replace(words[2]) + "\n"
			default:
				dropping = true
				r.warn(fmt.Sprintf("%s:%d: %q and what stands below it is not used here: Match is "+
					"understood with one host or all", file, i+1, clip(line)))
			}
		}
		switch {
		case dropping:
			lines[i] = "\n"
		case key == "include":
			at := fmt.Sprint(i + 1)
			f.included[at] = r.include(fmt.Sprintf("%s:%d", file, i+1), line, depth+1)
			lines[i] = includeKey + " " + at + "\n"
		}
	}
	return strings.Join(lines, "")
}

// hostsOfMatch makes patterns of Host of those that stand behind Match host.
var hostsOfMatch = strings.NewReplacer(",", " ", `"`, "")

// separates reports what stands between the words of a line.
func separates(r rune) bool { return strings.ContainsRune(" \t\r\n=", r) }

// include reads the files that the Include line at a place names.
func (r *configReader) include(at, line string, depth int) config {
	if depth > maxIncludes {
		r.tooDeep = true
		return nil
	}
	var files []string
	for _, name := range included(line) {
		pattern, err := r.pattern(name)
		if err != nil {
			r.warn(fmt.Sprintf("%s: %q is not included: %v", at, clip(name), err))
			continue
		}
		matches, _ := filepath.Glob(pattern) // the error is that it matches nothing
		files = append(files, slices.DeleteFunc(matches, func(file string) bool {
			return hidden(file) && !hidden(pattern) // as with glob(3)
		})...)
	}
	return r.read(files, depth)
}

// hidden reports whether the last element of a path begins with a dot.
func hidden(path string) bool { return strings.HasPrefix(filepath.Base(path), ".") }

// includeWord is what is replaced in a word of an Include line, and what looks like it.
var includeWord = regexp.MustCompile(`%.?|\$\{[^}]*\}?`)

// pattern returns the pattern of files for which a word of an Include line stands.
func (r *configReader) pattern(word string) (pattern string, err error) {
	pattern = includeWord.ReplaceAllStringFunc(word, func(found string) string {
		variable, isVariable := strings.CutPrefix(found, "${")
		value, set := os.LookupEnv(strings.TrimSuffix(variable, "}"))
		switch {
		case found == "%%":
			return "%"
		case found == "%d":
			return r.home
		case isVariable && set:
			return value
		case isVariable:
			err = fmt.Errorf("%s is not set", found)
		default:
			err = errors.New("of tokens only %d and %% are understood there")
		}
		return ""
	})
	switch below, home := strings.CutPrefix(pattern, "~/"); {
	case home:
		pattern = filepath.Join(r.home, below)
	case !filepath.IsAbs(pattern):
		pattern = filepath.Join(r.dir, pattern)
	}
	return pattern, err
}

// included returns the words of an Include line behind the first; those with spaces are in quotes.
func included(line string) (names []string) {
	line = strings.TrimLeftFunc(line, separates)
	line = line[max(0, strings.IndexFunc(line, separates)):]
	quoted := false
	names = strings.FieldsFunc(strings.TrimLeftFunc(line, separates), func(r rune) bool {
		if r == '"' {
			quoted = !quoted
			return true
		}
		return !quoted && unicode.IsSpace(r)
	})
	for i, name := range names {
		if strings.HasPrefix(name, "#") {
			return names[:i]
		}
	}
	return names
}

// all gives every value of a keyword for a host, the first one first.
func (c config) all(alias, key string) (values []string) {
	for _, f := range c {
		for _, block := range f.blocks {
			if !block.Matches(alias) {
				continue
			}
			for _, node := range block.Nodes {
				line, ok := node.(*ssh_config.KV)
				switch {
				case !ok: // a comment
				case line.Key == includeKey:
					values = append(values, f.included[line.Value].all(alias, key)...)
				case strings.EqualFold(line.Key, key):
					values = append(values, line.Value)
				}
			}
		}
	}
	return values
}

// get gives the first value of a keyword for a host, "" if there is none.
func (c config) get(alias, key string) string {
	return first(c.all(alias, key)...)
}

// yes tells whether a switch is on.
func (c config) yes(alias, key string) bool { return strings.EqualFold(c.get(alias, key), "yes") }
