// Command manual writes the manual pages of commands, from what they print with --help --all:
//
//	manual BIN FOLDER
//
// BIN is the folder of the commands. FOLDER gets a page for each of them and for each of their
// subcommands: run-tasks.1, run-tasks-show.1. The date of the pages is that of SOURCE_DATE_EPOCH if
// it is set, else today.
//
// scripts/install and scripts/release run it. It imports nothing of this project.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// programs are those that have pages: what people call, without what runs on hosts.
var programs = []string{"run-tasks", "infrainit", "check-status", "update-files", "nvdocker-install"}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: manual BIN FOLDER")
		os.Exit(2)
	}
	if err := write(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "manual:", err)
		os.Exit(1)
	}
}

// write writes the pages of the programs in bin into a folder.
func write(bin, folder string) error {
	date, err := pageDate()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for _, name := range programs {
		version, err := output(filepath.Join(bin, name), "--version")
		if err != nil {
			return err
		}
		_, version, _ = strings.Cut(strings.TrimSpace(version), " ")
		if err := writePages(bin, folder, stamp{date, version}, name); err != nil {
			return err
		}
	}
	return nil
}

// writePages writes the page of a command, and those of its subcommands.
func writePages(bin, folder string, s stamp, words ...string) error {
	help, err := output(filepath.Join(bin, words[0]), append(words[1:], "--help", "--all")...)
	if err != nil {
		return err
	}
	h := parse(help)
	file := filepath.Join(folder, strings.Join(words, "-")+".1")
	if err := os.WriteFile(file, []byte(h.page(s)), 0o644); err != nil {
		return err
	}
	for _, sub := range h.subcommands() {
		if err := writePages(bin, folder, s, append(words[:len(words):len(words)], sub)...); err != nil {
			return err
		}
	}
	return nil
}

// output returns what a command prints. Its defaults are those of no environment.
func output(program string, args ...string) (string, error) {
	c := exec.Command(program, args...)
	c.Env = []string{"HOME=/nonexistent"}
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", program, strings.Join(args, " "), err)
	}
	return string(out), nil
}

func pageDate() (string, error) {
	at := time.Now()
	if epoch := os.Getenv("SOURCE_DATE_EPOCH"); epoch != "" {
		seconds, err := strconv.ParseInt(epoch, 10, 64)
		if err != nil {
			return "", fmt.Errorf("SOURCE_DATE_EPOCH: %w", err)
		}
		at = time.Unix(seconds, 0)
	}
	return at.UTC().Format(time.DateOnly), nil
}
