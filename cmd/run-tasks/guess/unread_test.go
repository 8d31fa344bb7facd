package guess_test

import (
	"testing"
	"testing/fstest"

	"mlframework/cmd/run-tasks/guess"
)

func TestReadsNothing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		files map[string]string
		want  bool
	}{
		"constants": {map[string]string{"fit.py": "import random\nLR = 0.1\nprint(LR)\n"}, true},
		"argparse":  {map[string]string{"fit.py": "import argparse\n"}, false},
		"sys.argv":  {map[string]string{"fit.py": "import sys\nn = sys.argv[1]\n"}, false},
		"from sys":  {map[string]string{"fit.py": "from sys import argv\n"}, false},
		"variables": {map[string]string{"fit.py": "import os\nlr = os.environ['LR']\n"}, false},
		"a library": {map[string]string{"fit.py": "from lightning.pytorch.cli import LightningCLI\n"},
			false},
		"a module that reads": {map[string]string{"fit.py": "import options\n",
			"options.py": "from argparse import ArgumentParser\n"}, false},
		"a module that does not": {map[string]string{"fit.py": "import net\n", "net.py": "X = 1\n"},
			true},
		"a package that reads": {map[string]string{"fit.py": "from net.core import run\n",
			"net/__init__.py": "", "net/core.py": "from . import cfg\n",
			"net/cfg.py": "import click\n"}, false},
		"code that runs code": {map[string]string{"fit.py": "exec(open('x').read())\n"}, false},
		"a module of the root": {map[string]string{"fit.py": "from lab.main import main\n",
			"lab/main.py": "import argparse\n"}, false},
		"an unknown library": {map[string]string{"fit.py": "import chz\n"}, false},
		"no such file":       {map[string]string{}, false},
	} {
		project := fstest.MapFS{}
		for file, text := range c.files {
			project[file] = &fstest.MapFile{Data: []byte(text)}
		}
		if got := guess.ReadsNothing(project, "fit.py"); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
