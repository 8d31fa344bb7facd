package main_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"mlframework/nvdocker"
	"mlframework/sweep/api"
	"mlframework/sweep/api/server"
	"mlframework/sweep/core"
	"mlframework/sweep/master"
	"mlframework/sweep/queue/memory"
	"mlframework/sweep/store"
	"mlframework/sweep/task"
	"mlframework/sweep/worker"
	programs "mlframework/sweep/worker/process"
)

// masterFolder lets the test binary be a master with its API and one worker, on a queue in memory,
// in the folder that it names: a process of its own, that can be killed. The worker has GPUs where
// the folder has bin/nvidia-smi, which tells them.
const masterFolder = "TEST_MASTER_FOLDER"

// serveMaster runs until its input ends. Lines of its input switch the queue: "away" and "back";
// "forge" has w1 report in the name of another worker; "second" begins a worker on another host, with outputs of
// its own, and "leave" ends it. The socket is there once it is ready.
func serveMaster(dir string) int {
	if err := serve(context.Background(), dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func serve(ctx context.Context, dir string) (err error) {
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	in := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"revisions", "outputs", "outputs2"} {
		if err := os.MkdirAll(in(name), 0o700); err != nil {
			return err
		}
	}
	st, err := store.Open(ctx, in("master"), "test")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	keeper, err := programs.NewKeeper(log)
	if err != nil {
		return err
	}
	hub := memory.NewEncoding()
	m := master.New(master.Options{Store: st, Queue: hub, Log: log, Secrets: in("secrets")})
	options := worker.Options{Name: "w1", Host: "gpu1", Slots: 2, Outputs: in("outputs"),
		Inherited: os.Environ(), Keeper: keeper, Log: log, HideGPUs: true,
		GPUs: func(context.Context) (r nvdocker.Report, err error) {
			text, err := os.ReadFile(in("gpus.json"))
			if errors.Is(err, fs.ErrNotExist) {
				return r, nil
			}
			return r, errors.Join(err, json.Unmarshal(text, &r))
		},
		Revision: func(revision string) (string, error) {
			return in(filepath.Join("revisions", revision)), nil
		}}
	if _, err := os.Stat(in("bin/nvidia-smi")); err == nil {
		if err := os.Setenv("PATH", in("bin")+":"+os.Getenv("PATH")); err != nil {
			return err
		}
		options.GPUs, options.HideGPUs = worker.DetectGPUs, true
	}
	l, err := server.Listen(in("m.sock"))
	if err != nil {
		return err
	}
	server := server.New(server.Options{Master: m, Store: &st.Reader, Broker: hub,
		Revisions: in("revisions"), Program: "test", Log: log})
	working, stopWorking := context.WithCancel(ctx)
	running, stop := context.WithCancel(ctx)
	var work, parts sync.WaitGroup
	parts.Go(func() { err = errors.Join(err, m.Run(running)) })
	work.Go(func() {
		// it is started again, as a supervisor does
		for worker.New(hub.Worker("w1"), options).Run(working) == worker.Restart {
		}
	})
	parts.Go(func() { _ = server.Run(running, l) })
	second, leave := context.WithCancel(working)
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		switch lines.Text() {
		case "forge":
			err = errors.Join(err, hub.Worker("w1").Emit(ctx, task.Event{Version: task.Version,
				Kind: task.EndedEvent, Worker: "w9", Sweep: "work-1"}))
		case "second":
			options.Name, options.Host, options.Outputs = "w2", "gpu2", in("outputs2")
			w2 := worker.New(hub.Worker("w2"), options)
			work.Go(func() { w2.Run(second) })
		case "leave":
			leave()
		default:
			hub.Outage(lines.Text() == "away")
		}
	}
	leave()
	hub.Outage(false)
	stopWorking()
	work.Wait()
	stop()
	parts.Wait()
	return errors.Join(err, keeper.Close(ctx))
}

// served is a master that runs.
type served struct {
	cmd   *exec.Cmd
	input io.WriteCloser
	ended chan struct{}
}

// startMaster runs a master in a folder and waits until it can be asked.
func startMaster(dir string) (*served, error) {
	s := &served{cmd: exec.Command(os.Args[0]), ended: make(chan struct{})}
	s.cmd.Env = append(os.Environ(), masterFolder+"="+dir)
	s.cmd.Stderr = os.Stderr
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var err error
	if s.input, err = s.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(s.ended)
		_ = s.cmd.Wait() // it is ended, or killed
	}()
	client := api.Dial(filepath.Join(dir, "m.sock"))
	defer client.Close()
	for end := time.Now().Add(deadline); ; time.Sleep(5 * time.Millisecond) {
		workers, err := client.Workers(context.Background())
		if err == nil && len(workers) == 1 && workers[0].State == core.WorkerReady {
			return s, nil
		}
		if time.Now().After(end) {
			s.kill()
			return nil, fmt.Errorf("no master in %v: %v, %v", deadline, workers, err)
		}
	}
}

// end ends it as a person would; kill as a fault does.
func (s *served) end()  { _ = s.input.Close(); <-s.ended }
func (s *served) kill() { _ = s.cmd.Process.Kill(); <-s.ended }

func (s *served) say(text string) { _, _ = fmt.Fprintln(s.input, text) }

// master [LINE...] starts a master for a script, whose socket is m.sock, and says lines to it.
func masterCommand(ts *testscript.TestScript, _ bool, lines []string) {
	s, err := startMaster(ts.MkAbs("."))
	ts.Check(err)
	for _, l := range lines {
		s.say(l)
	}
	ts.Defer(s.end)
	ts.Defer(func() { masters.Delete(ts) })
	masters.Store(ts, s)
}

// masters are those of scripts that run.
var masters sync.Map

// say LINE says a line to the script's master.
func sayCommand(ts *testscript.TestScript, _ bool, words []string) {
	s, ok := masters.Load(ts)
	if !ok || len(words) != 1 {
		ts.Fatalf("usage: say LINE, after master")
	}
	s.(*served).say(words[0])
}

// master runs a master in the folder.
func (f folder) master() *served {
	f.t.Helper()
	s, err := startMaster(f.dir)
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() {
		s.kill()
		for _, pid := range f.processes() {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	})
	return s
}
