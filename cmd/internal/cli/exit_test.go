package cli_test

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"mlframework/cmd/internal/cli"
	"mlframework/config"
	"mlframework/sweep/fault"
)

func TestFinish(t *testing.T) {
	t.Parallel()
	faults := fault.List{{File: "tasks.yml", Line: 3, Column: 7, Problem: "unknown key \x1b[31m",
		Remedy: "remove it"}, {File: "p.yml", Problem: "is empty"}}
	full := &fs.PathError{Op: "write", Path: "store.db", Err: syscall.ENOSPC}
	for name, c := range map[string]struct {
		err  error
		code int
		text string
	}{
		"none":        {nil, cli.OK, ""},
		"only a code": {cli.Code(cli.Failed), cli.Failed, ""},
		"the code 0":  {cli.Code(cli.OK), cli.OK, ""},
		"usage": {cli.Wrong("do this", "%s is wrong", "x"), cli.Usage,
			"prog: x is wrong\n  do this\n"},
		"usage without a way out": {cli.Wrong("", "no"), cli.Usage, "prog: no\n"},
		"wrapped": {fmt.Errorf("read: %w", cli.Wrong("", "no")), cli.Usage,
			"prog: read: no\n"},
		"faults of files": {faults, cli.Invalid,
			"tasks.yml:3:7: unknown key \\x1b[31m; remove it\nprog: p.yml: is empty\n"},
		"faults, wrapped": {errors.Join(faults), cli.Invalid,
			"tasks.yml:3:7: unknown key \\x1b[31m; remove it\nprog: p.yml: is empty\n"},
		"faults of options": {&config.Usage{Faults: fault.List{{File: "-m", Problem: "no"},
			{File: "-w", Problem: "none"}}}, cli.Usage, "prog: -m: no\n-w: none\n"},
		"no configuration": {&config.Missing{File: "cluster.yml"}, cli.Invalid,
			"prog: there is no cluster.yml: infrainit -a HOST,... -m HOST -w HOST,... sets up a " +
				"cluster and writes it\n"},
		"a full disk": {full, cli.Machine, "prog: write store.db: no space left on device\n" +
			"  free some space, then run `run-tasks resume`; accepted results are kept\n"},
		"read-only": {&fs.PathError{Op: "mkdir", Path: "x", Err: syscall.EROFS}, cli.Machine,
			"prog: mkdir x: read-only file system\n" +
				"  check the permissions of the folder, and how its file system is mounted\n"},
		"anything else": {errors.New("a\x07b"), cli.Machine, "prog: a\\ab\n"},
		"one cause, told twice": {errors.Join(errors.New("write: bad disk"),
			errors.New("bad disk")), cli.Machine, "prog: write: bad disk\n"},
		"faults of arguments": {&cli.Error{Code: cli.Usage,
			Err: fault.List{{File: "lr=x", Column: 4, Problem: "no number"},
				{Problem: "nothing runs"}}}, cli.Usage,
			"prog: lr=x, column 4: no number\nprog: nothing runs\n"},
		"equal remedies": {errors.New("gpu1: full\n    wait\ngpu2: away\n    wait\ngpu1: full\n  " +
			"  wait"), cli.Machine,
			"prog: gpu1: full\n    wait\ngpu2: away\n    wait\n"},
		"two causes": {errors.Join(errors.New("one"), errors.New("two")), cli.Machine,
			"prog: one\ntwo\n"},
		"a code and its reasons": {errors.Join(cli.Code(cli.Failed), errors.New("and more")),
			cli.Failed, "prog: and more\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var b strings.Builder
			if code := cli.Finish(&b, "prog", c.err); code != c.code {
				t.Errorf("exit code %d, want %d", code, c.code)
			}
			if b.String() != c.text {
				t.Errorf("got  %q\nwant %q", b.String(), c.text)
			}
		})
	}
}
