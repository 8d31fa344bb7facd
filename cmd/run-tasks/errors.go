package main

import (
	"errors"
	"fmt"
	"path/filepath"

	"mlframework/cmd/internal/cli"
	"mlframework/cmd/internal/site"
	"mlframework/cmd/run-tasks/local"
	"mlframework/sweep/core"
	"mlframework/sweep/human"
	"mlframework/sweep/store"
)

func noSweep() error {
	here := "this folder"
	if folder := filepath.Dir(local.StoreFolder()); folder != "." {
		here = cli.Visible(folder)
	}
	remedy := "submit one with run-tasks NAME, or go to the folder of your sweeps"
	if found := below(".", local.HasStore); len(found) > 0 {
		remedy = found[0] + " has some: run-tasks -d " + human.CommandLine(found[:1]) + " ls"
	}
	return cli.Wrong(remedy, "no sweeps in %s", here)
}

// problem gives answers of a master, and of the process that runs this folder, their words and exit
// code.
func (c *command) problem(err error) error {
	if option, ok := errors.AsType[*cli.UnknownOption](err); ok {
		if meant := c.meantOption(option); meant != "" {
			return &cli.Error{Code: cli.Usage, Err: option, Remedy: meant}
		}
		return err
	}
	if e := site.ExplainMaster(err, c.self); e != nil {
		return e
	}
	if unknown, ok := errors.AsType[*store.UnknownSweep](err); ok && unknown.ID == "" {
		return noSweep()
	} else if ok {
		return &cli.Error{Code: cli.Usage, Err: unknown, Remedy: c.self + " ls lists them"}
	}
	if w, ok := errors.AsType[*core.WrongState](err); ok {
		return &cli.Error{Code: cli.Usage, Err: w}
	}
	if _, ok := errors.AsType[*core.UnknownTask](err); ok {
		return &cli.Error{Code: cli.Usage, Err: err}
	}
	return err
}

func removedError(id string) error {
	return &cli.Error{Code: cli.Machine, Err: fmt.Errorf("the store of this folder was removed "+
		"while %s ran: what it held is lost", id), Remedy: "the outputs stay"}
}
