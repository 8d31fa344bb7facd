package process

import (
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// defaultPath is searched if the environment of a program has no PATH.
const defaultPath = "/usr/local/bin:/usr/bin:/bin"

// find returns the file to execute for argv[0], absolute or relative to spec.Dir, as a shell in
// that directory would find it. If there is none, problem says why the program could not be
// started.
func findProgram(spec *Spec) (file string, problem *Exit) {
	if len(spec.Argv) == 0 || spec.Argv[0] == "" {
		e := notFound(`""`, "the command is empty")
		return "", &e
	}
	name := spec.Argv[0]
	if strings.Contains(name, "/") {
		return name, nil
	}
	path := lookupEnv(spec.Env, "PATH", defaultPath)
	if file := recentLookup.get(name, path); file != "" {
		return file, nil
	}
	forbidden, everywhere := "", true
	for dir := range strings.SplitSeq(path, ":") {
		everywhere = everywhere && filepath.IsAbs(dir)
		file := joinDir(dir, name)
		if !strings.Contains(file, "/") {
			file = "./" + file
		}
		switch probe(joinDir(spec.Dir, file)) {
		case executable:
			if everywhere {
				recentLookup.put(name, path, file)
			}
			return file, nil
		case notExecutable:
			forbidden = file
		}
	}
	if forbidden != "" {
		e := startFailure(spec, forbidden, unix.EACCES)
		return "", &e
	}
	text := "there is no such program in PATH (" + path + ")"
	if probe(joinDir(spec.Dir, name)) != absent {
		text += "; for the file in the working directory write ./" + name
	}
	e := notFound(name, text)
	return "", &e
}

// recentLookup spares programs that are started repeatedly the search through PATH. It holds
// results that do not depend on the working directory.
var recentLookup lookups

// lookupTTL is how long a result is valid: a program that is installed elsewhere is found a second
// later.
const lookupTTL = time.Second

// lookups is the latest result. The zero value is ready to use. It is safe for concurrent use.
type lookups struct{ last atomic.Pointer[lookup] }

type lookup struct {
	name, path, file string
	at               time.Time
}

func (l *lookups) get(name, path string) string {
	last := l.last.Load()
	if last == nil || last.name != name || last.path != path || time.Since(last.at) > lookupTTL {
		return ""
	}
	return last.file
}

func (l *lookups) put(name, path, file string) {
	l.last.Store(&lookup{name, path, file, time.Now()})
}

// joinDir returns path relative to dir; an empty dir is the current directory.
func joinDir(dir, path string) string {
	if dir == "" || filepath.IsAbs(path) {
		return path
	}
	return dir + "/" + path
}

type fileKind uint8

const (
	absent        fileKind = iota
	notExecutable          // a file that may not be executed
	executable
)

func probe(file string) fileKind {
	var st unix.Stat_t
	if unix.Stat(file, &st) != nil || st.Mode&unix.S_IFMT == unix.S_IFDIR {
		return absent
	}
	if unix.Faccessat(unix.AT_FDCWD, file, unix.X_OK, unix.AT_EACCESS) != nil {
		return notExecutable
	}
	return executable
}

// lookupEnv returns the first value of name in env, as getenv(3) does, or otherwise.
func lookupEnv(env []string, name, otherwise string) string {
	for _, e := range env {
		if v, ok := strings.CutPrefix(e, name); ok && strings.HasPrefix(v, "=") {
			return v[1:]
		}
	}
	return otherwise
}
