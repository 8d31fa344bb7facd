package process

import (
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// defaultPath is searched if the environment of a program has no PATH.
const defaultPath = "/usr/local/bin:/usr/bin:/bin"

// findProgram returns the file to execute for argv[0], absolute or relative to spec.Dir, as a shell
// in that directory would find it. If there is none, problem says why the program could not be
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
	forbidden := ""
	for dir := range strings.SplitSeq(path, ":") {
		file := joinDir(dir, name)
		if !strings.Contains(file, "/") {
			file = "./" + file
		}
		switch probe(joinDir(spec.Dir, file)) {
		case executable:
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
