package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/sweep/queue/rights"
)

// definitionsFile is what a broker imports.
const definitionsFile = "definitions.json"

func (c *command) usersCommand() *cliv2.Command {
	return &cliv2.Command{
		Name: "broker-users", Action: c.users,
		Usage: "create broker users for a self-hosted master and workers",
		Description: `Writes a file with USER:PASSWORD for the master and for each worker, for use
with --credentials. Also writes definitions.json with their permissions. Import
it into the broker:

    sudo rabbitmqctl import_definitions <FOLDER/definitions.json

Existing passwords are kept, so you can run the command again to add workers.
definitions.json contains all users in FOLDER. To revoke the permissions of a
worker, delete its file and run rabbitmqctl delete_user worker-NAME.

EXAMPLES:
   sweepd broker-users --folder users --worker gpu1 --worker gpu2`,
		Flags: []cliv2.Flag{
			&cliv2.StringFlag{Name: "folder",
				Usage: "`FOLDER` for the files, readable only by their owner"},
			&cliv2.StringSliceFlag{Name: "worker", Usage: "`NAME` of a worker; can be given more than once"},
			&cliv2.StringFlag{Name: "vhost", Value: "/", Usage: "`VHOST` of the broker"},
		},
	}
}

func (c *command) users(ctx *cliv2.Context) error {
	if err := plain(ctx, "folder"); err != nil {
		return err
	}
	workers := ctx.StringSlice("worker")
	for _, name := range workers {
		if err := rights.CheckWorker(name); err != nil {
			return cli.Wrong("", "--worker: %w", err)
		}
	}
	dir, err := folder(ctx.String("folder"))
	if err != nil {
		return err
	}
	logins, err := makeUsers(dir, workers)
	if err == nil {
		err = writePrivately(filepath.Join(dir, definitionsFile),
			rights.Definitions(ctx.String("vhost"), logins))
	}
	if err != nil {
		return &cli.Error{Code: cli.Machine, Err: fmt.Errorf("make the users of a broker: %w", err)}
	}
	for _, l := range logins {
		fmt.Fprintf(c.stdout, "%-20s %s\n", l.Name, filepath.Join(dir, l.Name))
	}
	fmt.Fprintf(c.stdout, "\nNext, import them into the broker:\n\n    sudo rabbitmqctl "+
		"import_definitions <%s\n", filepath.Join(dir, definitionsFile))
	return nil
}

// makeUsers makes files with credentials for the master and for workers, beside those that are
// there, and returns all.
func makeUsers(dir string, workers []string) (logins []rights.Login, err error) {
	names := []string{rights.Master}
	for _, name := range workers {
		names = append(names, rights.WorkerUser(name))
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		if worker, ok := rights.WorkerOfUser(f.Name()); ok && rights.CheckWorker(worker) == nil {
			names = append(names, f.Name())
		}
	}
	made := map[string]bool{}
	for _, name := range names {
		if made[name] {
			continue
		}
		made[name] = true
		password, err := passwordOf(filepath.Join(dir, name), name)
		if err != nil {
			return nil, err
		}
		user := rights.MasterUser()
		if worker, ok := rights.WorkerOfUser(name); ok {
			user = rights.UserOfWorker(worker)
		}
		var salt [4]byte
		_, _ = rand.Read(salt[:]) // it never fails
		logins = append(logins, rights.Login{User: user, Hash: rights.Hash(salt, password)})
	}
	return logins, nil
}

// passwordOf reads the password of a user from its file, or makes both.
func passwordOf(file, user string) (string, error) {
	data, err := os.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		password := rand.Text()
		return password, writePrivately(file, []byte(user+":"+password+"\n"))
	case err != nil:
		return "", err
	}
	name, password, ok := strings.Cut(strings.TrimRight(string(data), "\r\n"), ":")
	if !ok || name != user || password == "" || strings.Contains(password, "\n") {
		return "", fmt.Errorf("%s is not one line %s:PASSWORD; remove it, and another password "+
			"is made", file, user)
	}
	return password, nil
}

// writePrivately writes a file that only its owner may read, in one step.
func writePrivately(file string, data []byte) error {
	temporary, err := os.CreateTemp(filepath.Dir(file), ".new-*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(temporary.Name())
	_, err = temporary.Write(data)
	if err = errors.Join(err, temporary.Close()); err != nil {
		return err
	}
	return os.Rename(temporary.Name(), file)
}
