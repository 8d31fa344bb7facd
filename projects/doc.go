// Package projects owns a project's files: which of them belong to it, what they hash to, and a
// read-only copy of them that stays as it was while the project is edited.
//
// Scan walks a folder and gives a Manifest; Manifest.Revision names its content; Snapshot makes the
// copy that attempts run in; Take does all of it and tries again when a file changed meanwhile. An
// Assembly makes the same copy on another machine, of a manifest and contents that were sent there.
//
// Packages sweep, infra and cmd may import it: sweep runs attempts in local snapshots, infra pushes
// the same manifest to hosts, so that one project has one revision everywhere. It imports only the
// standard library.
//
// # What belongs to a project
//
// Everything in its folder, but:
//
//   - At any depth: .git and .mlframework; caches (__pycache__, *.pyc, *.pyo, .pytest_cache,
//     .mypy_cache, .ruff_cache, .pytype, .ipynb_checkpoints, .hypothesis, .tox, .nox, .DS_Store);
//     virtual environments, known by their pyvenv.cfg or conda-meta; folders that `run-tasks fetch`
//     made for results, known by their ResultsMark.
//   - At the top, and beside a .mlframework further down (somebody runs sweeps from that folder):
//     outputs, cluster.yml and infra-clean*. Elsewhere files with these names are the user's.
//   - What .mlframeworkignore and .gitignore name, in the top folder and every folder below, in the
//     syntax of gitignore(5).
//   - What .gitignore names in the folders above, when the project lies in a git repository: up to
//     its root, the nearest folder with a .git. Where those rules leave out the project's own
//     folder they do not count, as whoever names it wants what is in it.
//
// As in git, no .gitignore leaves out a file that the repository's index tracks.
//
// No rule brings the first two back. A .mlframeworkignore is asked before any .gitignore, so it can
// leave out what git keeps (!data there brings in data that git ignores). So a revision depends on
// the folder, and on the .gitignore files and tracked paths of the repository around it, which
// everybody who has the repository has, and on no settings of a single user or clone:
// .git/info/exclude and global excludes are not read. As in git, a rules file that is a symbolic link is not read as rules. node_modules
// belongs to the project unless a rule names it: unlike a virtual environment it can be moved, and
// a program may need it.
//
// A folder whose files are all left out stays, empty. Symbolic links are kept as links; one that
// leads out of the project, directly or through another link, is refused, and so is what is neither
// file, folder nor link. A link that leads nowhere inside the project is kept.
//
// # Why an own matcher
//
// The usual Go library, go-git's plumbing/format/gitignore, differs from git where a re-included
// folder holds files that an earlier pattern ignores (its issues 877 and 2112), and brings in a git
// implementation. The matcher here is a hundred lines, and a test holds it to what `git
// check-ignore` says about thousands of random rules and paths.
package projects
