package process

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"syscall"
)

// hostErrors are the errors of fork and execve (fork(2), execve(2)) that say nothing about the
// program.
var hostErrors = map[syscall.Errno]string{
	syscall.EAGAIN: "the limit of processes is reached",
	syscall.ENOMEM: "memory is exhausted",
	syscall.EMFILE: "this process has no file descriptors left",
	syscall.ENFILE: "the host has no file descriptors left",
	syscall.ENOSPC: "there is no space left",
	syscall.EDQUOT: "the disk quota is used up",
	syscall.EIO:    "the disk cannot be read",
	syscall.ESTALE: "the network file system has lost the file",
	syscall.ENODEV: "the device is gone",
}

func badHost(name string, err error) Exit {
	var errno syscall.Errno
	if errors.As(err, &errno) && hostErrors[errno] != "" {
		err = fmt.Errorf("%s: %w", hostErrors[errno], err)
	}
	return Exit{Cause: BadHost, Code: -1, Err: fmt.Errorf("start %s: %w", name, err)}
}

func badProgram(code int, name, problem string, err error) Exit {
	if err != nil {
		return Exit{Cause: BadProgram, Code: code,
			Err: fmt.Errorf("start %s: %s: %w", name, problem, err)}
	}
	return Exit{Cause: BadProgram, Code: code, Err: fmt.Errorf("start %s: %s", name, problem)}
}

// startFailure explains why the file that find returned for the program of spec could not be
// started. The kernel uses one error number for the directory, the program and its interpreter
// alike.
func startFailure(spec *Spec, file string, err error) Exit {
	name := spec.Argv[0]
	var errno syscall.Errno
	if !errors.As(err, &errno) || hostErrors[errno] != "" {
		return badHost(name, err)
	}
	if d, err := os.Stat(joinDir(spec.Dir, ".")); err != nil {
		return badHost(name, fmt.Errorf("working directory: %w", err))
	} else if !d.IsDir() {
		return badHost(name, fmt.Errorf("working directory %s is not a directory", spec.Dir))
	}
	file = joinDir(spec.Dir, file)
	info, statErr := os.Stat(file)
	switch {
	case errors.Is(statErr, fs.ErrNotExist):
		return notFound(name, "there is no such file: "+file)
	case statErr != nil:
		return badProgram(126, name, "it cannot be reached", statErr)
	case info.IsDir():
		return badProgram(126, name, file+" is a directory", nil)
	}
	switch errno {
	case syscall.EACCES, syscall.EPERM:
		return badProgram(126, name,
			file+" is not executable (chmod +x, or name its interpreter first)", errno)
	case syscall.ENOENT:
		return badProgram(126, name, interpreterProblem(file), errno)
	case syscall.ENOEXEC:
		return badProgram(126, name,
			file+" has no #! line and is not a program for "+runtime.GOOS+" on "+runtime.GOARCH,
			errno)
	case syscall.ETXTBSY:
		return badProgram(126, name, file+" is being written", errno)
	case syscall.E2BIG:
		return badProgram(126, name, "its arguments and environment are too long", errno)
	}
	return badProgram(126, name, file+" cannot be executed", errno)
}

func notFound(name, problem string) Exit { return badProgram(127, name, problem, nil) }

// interpreterProblem explains why a file exists although the kernel says that it does not.
func interpreterProblem(file string) string {
	line, ok := strings.CutPrefix(firstLine(file), "#!")
	if !ok {
		return "the loader that " + file + " asks for is missing (was it built for another system?)"
	}
	interpreter, _, _ := strings.Cut(strings.TrimLeft(line, " \t"), " ")
	if bare, windows := strings.CutSuffix(interpreter, "\r"); windows {
		return fmt.Sprintf(
			"the first line of %s, #!%s, ends with a carriage return (Windows line ends)",
			file, bare)
	}
	return fmt.Sprintf("the interpreter %s, named in the first line of %s, is missing", interpreter,
		file)
}

func firstLine(file string) string {
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	head := make([]byte, 256) // all that the kernel reads: BINPRM_BUF_SIZE
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return ""
	}
	line, _, _ := bytes.Cut(head[:n], []byte("\n"))
	return string(line)
}
