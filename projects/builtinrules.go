package projects

import (
	"io/fs"
	"slices"
	"strings"
)

// neverNames never belong to a project, at any depth: git's own, ours, and caches.
var neverNames = []string{
	".git", ".mlframework",
	"__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".pytype", ".ipynb_checkpoints",
	".hypothesis", ".tox", ".nox", ".DS_Store",
}

// never reports whether no rule can make the name part of a project. working is true in a folder
// that people run our commands in: the top one, and one with a .mlframework.
func never(name string, working bool) bool {
	switch {
	case slices.Contains(neverNames, name), strings.HasSuffix(name, ".pyc"),
		strings.HasSuffix(name, ".pyo"):
		return true
	case !working:
		return false
	}
	return name == "outputs" || name == "cluster.yml" || strings.HasPrefix(name, "infra-clean")
}

// working reports whether people run our commands in a folder with these items.
func working(items []fs.DirEntry) bool { return holds(items, ".mlframework") }

// environment reports whether a folder with these items is a virtual environment: of venv,
// virtualenv, uv or conda.
func environment(items []fs.DirEntry) bool {
	return holds(items, "pyvenv.cfg") || holds(items, "conda-meta")
}

// ResultsMark is the name of the file by which a folder is known that holds results copied out of
// tasks.
const ResultsMark = ".mlframework-results"

// results reports whether a folder with these items holds results of tasks: what they made is not
// their project.
func results(items []fs.DirEntry) bool { return holds(items, ResultsMark) }

func holds(items []fs.DirEntry, name string) bool {
	return slices.ContainsFunc(items, func(item fs.DirEntry) bool { return item.Name() == name })
}
