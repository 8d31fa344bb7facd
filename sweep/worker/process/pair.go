package process

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// The pair: the process that the user started becomes the guard, which only waits, and starts the
// same program again as the executor, which does the work. The guard holds the writing end of a
// pipe, through which it forwards its signals, one byte each, and whose end of file tells the
// executor that the guard has died; wait(2) tells the guard that the executor has. Both are child
// subreapers, so whichever is killed, the other inherits all processes below it and ends them.
//
// The executor stays in the guard's process group, in the foreground of the terminal: Ctrl-Z and
// fg work on both.

// guardEnv marks the executor: "FD NAME", the reading end of the pipe and argv[0] of the guard.
const guardEnv = "MLFRAMEWORK_GUARD"

// forwarded are the signals that the guard forwards to the executor. Those from a terminal, or to
// the whole process group, reach the executor directly as well: see Notify.
var forwarded = []os.Signal{
	syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP,
	syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2,
}

// RunGuarded makes this process the guard. It starts the same program with the same arguments again
// as a child process called name (ps and top show its first 15 bytes; pkill with this program's own
// name then matches only the guard), waits for its end, kills whatever it left behind, and returns
// its exit code. If a signal ended it, the code is 128 + its number and the error *Killed. Any
// other error means that nothing was started. This process must have no other children.
//
// main calls it early, right after Guarded returned false:
//
//	if !process.Guarded() && wantsLocalRun(os.Args) {
//		code, err := process.RunGuarded("sweep-executor")
//		...
//		os.Exit(code)
//	}
func RunGuarded(name string) (exitCode int, err error) {
	if err := becomeSubreaper(); err != nil {
		return 0, fmt.Errorf("start %s: become child subreaper: %w", name, err)
	}
	program, err := ownProgram()
	if err != nil {
		return 0, fmt.Errorf("start %s: %w", name, err)
	}
	life, alive, err := os.Pipe()
	if err != nil {
		return 0, fmt.Errorf("start %s: %w", name, err)
	}
	defer alive.Close()
	signals := make(chan os.Signal, 16)
	// To the end: a late signal must not replace the exit code.
	signal.Notify(signals, withoutIgnoredHangup(forwarded)...)
	child, err := os.StartProcess(program, append([]string{name}, os.Args[1:]...), &os.ProcAttr{
		Env:   append(os.Environ(), guardEnv+"=3 "+os.Args[0]),
		Files: []*os.File{os.Stdin, os.Stdout, os.Stderr, life},
	})
	life.Close()
	if err != nil {
		return 0, fmt.Errorf("start %s: %w", name, err)
	}
	return watch(child, alive, signals)
}

// StartDetached starts this program again with other arguments, in a session of its own: it does not
// end with this process or with its terminal. Standard input is empty.
func StartDetached(args []string, stdout, stderr *os.File) error {
	program, err := ownProgram()
	if err != nil {
		return err
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		return err
	}
	defer null.Close()
	p, err := os.StartProcess(program, append([]string{os.Args[0]}, args...), &os.ProcAttr{
		Files: []*os.File{null, stdout, stderr}, Sys: &syscall.SysProcAttr{Setsid: true}})
	if err != nil {
		return fmt.Errorf("start %s: %w", program, err)
	}
	return p.Release()
}

// Killed is the error of RunGuarded if a signal ended the executor.
type Killed struct{ Signal syscall.Signal }

func (e *Killed) Error() string {
	return "the process that does the work was killed by " + unix.SignalName(e.Signal)
}

// watch forwards signals until the executor has ended.
func watch(child *os.Process, executor io.Writer, signals <-chan os.Signal) (exitCode int,
	err error) {
	type end struct {
		state *os.ProcessState
		err   error
	}
	ended := make(chan end, 1)
	go func() {
		state, err := child.Wait()
		ended <- end{state, err}
	}()
	for {
		select {
		case s := <-signals:
			if number, ok := s.(syscall.Signal); ok {
				_, _ = executor.Write([]byte{byte(number)}) // it may have ended
			}
		case e := <-ended:
			killExecutorLeftovers()
			if e.err != nil {
				return 0, fmt.Errorf("wait for pid %d: %w", child.Pid, e.err)
			}
			status, _ := e.state.Sys().(syscall.WaitStatus)
			if status.Signaled() {
				return 128 + int(status.Signal()), &Killed{Signal: status.Signal()}
			}
			return status.ExitStatus(), nil
		}
	}
}

// Guarded reports whether this process is the executor of a pair. Call it once, at the start of
// main. In the executor it restores os.Args[0] and the environment of the guard, sets the name of
// the process, and starts to watch the guard: when the guard dies, every descendant of this process
// gets SIGKILL and this process exits with code 137, whatever it is doing.
func Guarded() bool {
	mark, marked := os.LookupEnv(guardEnv)
	if !marked {
		return false
	}
	_ = os.Unsetenv(guardEnv) // it was there
	life, argv0, err := openMark(mark)
	if err != nil {
		return false
	}
	nameProcess(os.Args[0])
	os.Args[0] = argv0
	go func() {
		var b [1]byte
		for {
			if n, err := life.Read(b[:]); err != nil {
				break
			} else if n > 0 {
				deliver(syscall.Signal(b[0]))
			}
		}
		onGuardDeath()
		os.Exit(128 + int(syscall.SIGKILL))
	}()
	return true
}

// openMark takes the reading end of the pipe from a mark. It does not check whether the guard is
// this process's parent: if the guard is dead already, the executor must learn that from the pipe
// rather than become a guard itself.
func openMark(mark string) (life *os.File, argv0 string, err error) {
	number, argv0, _ := strings.Cut(mark, " ")
	fd, err := strconv.Atoi(number)
	if err != nil {
		return nil, "", err
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFIFO {
		return nil, "", errors.Join(errors.New("no pipe"), err)
	}
	unix.CloseOnExec(fd)
	_ = unix.SetNonblock(fd, true) // so that the read holds no thread; it works without
	return os.NewFile(uintptr(fd), "guard"), argv0, nil
}
