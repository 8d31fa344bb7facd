package process_test

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"mlframework/internal/leaktest"
	"mlframework/sweep/worker/process"
)

// soon bounds what takes a moment, on a machine that may do much else meanwhile. The programs of
// these tests would go on for a minute.
const soon = 30 * time.Second

// keeper is shared: a process has one.
var keeper *process.Keeper

// helpers are programs that this test binary is when HELPER names one.
var helpers = map[string]func() int{}

// newKeeper makes the Keeper of tests and their helpers.
var newKeeper = func() (*process.Keeper, error) { return process.NewKeeper(nil) }

func TestMain(m *testing.M) {
	if name := os.Getenv("HELPER"); name != "" {
		os.Exit(helpers[name]())
	}
	if signal.Ignored(syscall.SIGHUP) { // under nohup: programs that tests start would ignore it, too
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	}
	var err error
	if keeper, err = newKeeper(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	ctx, cancel := context.WithTimeout(context.Background(), soon)
	defer cancel()
	if err := keeper.Close(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	if err := leaktest.Find(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}
