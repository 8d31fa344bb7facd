package projects

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// A walk goes through a project's folders.
type walk struct {
	root     string
	names    []string // absolute paths by which a link may call the root
	snapshot bool     // rules were applied when it was made
	manifest *Manifest
	faults   []error
}

// full is a path of the project in the file system.
func (w *walk) full(path string) string { return filepath.Join(w.root, filepath.FromSlash(path)) }

// folder adds the folder at path, "" for the top, with what it holds. Its error is ctx's alone.
func (w *walk) folder(ctx context.Context, path string, outer scope) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	items, info, err := list(w.full(path))
	if err != nil {
		w.refuse(&FileError{Path: path, Fault: Unreadable, Err: err})
		return nil
	}
	if path != "" {
		if environment(items) || results(items) {
			return nil
		}
		w.add(path, Dir, info)
	}
	inner := w.rules(path, items, outer)
	if holds(items, ".git") {
		inner.tracks = trackedIn(w.full(path), "", path+"/")
	}
	ours := path == "" || working(items)
	for _, item := range items {
		if never(item.Name(), ours) {
			continue
		}
		if err := w.item(ctx, join(path, item.Name()), item, inner); err != nil {
			return err
		}
	}
	return nil
}

// list reads a folder. Rules and links are looked at before it is entered, so it never follows a
// link.
func list(full string) ([]fs.DirEntry, fs.FileInfo, error) {
	folder, err := os.OpenFile(full, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, nil, err
	}
	defer folder.Close()
	info, err := folder.Stat()
	if err != nil {
		return nil, nil, err
	}
	items, err := folder.ReadDir(-1)
	return items, info, err
}

// refuse notes a fault, but for what is gone already: the next scan would not see it either.
func (w *walk) refuse(err *FileError) {
	if !errors.Is(err, fs.ErrNotExist) {
		w.faults = append(w.faults, err)
	}
}

func join(folder, name string) string {
	if folder == "" {
		return name
	}
	return folder + "/" + name
}

// item adds one item of a folder unless the rules leave it out. Its error is ctx's alone.
func (w *walk) item(ctx context.Context, path string, item fs.DirEntry, rules scope) error {
	left, ignored := rules.ignores(path, item.IsDir())
	rules.onlyTracked = nil
	switch {
	case !ignored || w.snapshot:
	case left.ByGit() && rules.tracks != nil && rules.tracks(path): // as in git, it counts
		rules.onlyTracked = &LeftOut{File: left.File, Unless: left.Unless}
	default:
		if item.Name() != gitRules && item.Name() != ownRules {
			w.manifest.LeftOut = append(w.manifest.LeftOut, left)
			w.manifest.scopes[path] = rules
		}
		return nil
	}
	if item.IsDir() {
		return w.folder(ctx, path, rules)
	}
	info, err := item.Info()
	switch {
	case err != nil:
		w.refuse(&FileError{Path: path, Fault: Unreadable, Err: err})
	case info.Mode().IsRegular() && sparse(info):
		size := fmt.Sprintf("%d GiB", info.Size()>>30)
		w.refuse(&FileError{Path: path, Fault: Sparse, Detail: size})
	case info.Mode().IsRegular():
		w.add(path, File, info)
	case info.Mode().Type() == fs.ModeSymlink:
		w.link(path, info)
	default:
		if !w.skip(path, info.Mode(), "") {
			w.refuse(&FileError{Path: path, Fault: NotAFile, Detail: named(info.Mode())})
		}
	}
	return nil
}

// maxSparse is the size in bytes above which a file that contains almost no data is refused.
const maxSparse = 64 << 30

// sparse reports whether reading a file would take minutes although it contains almost no data.
func sparse(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && info.Size() > maxSparse && stat.Blocks*512 < info.Size()/64
}

// add lists what info tells about path.
func (w *walk) add(path string, kind Kind, info fs.FileInfo) *Entry {
	e := Entry{Path: path, Kind: kind, Mode: info.Mode().Perm(), ModTime: ModTime(info)}
	if kind == File {
		e.Size = info.Size()
		if id, ok := identify(info); ok {
			w.manifest.seen[path] = id
		}
	}
	w.manifest.Entries = append(w.manifest.Entries, e)
	return &w.manifest.Entries[len(w.manifest.Entries)-1]
}

// link adds a symbolic link that stays in the project.
func (w *walk) link(path string, info fs.FileInfo) {
	target, err := os.Readlink(w.full(path))
	if err != nil {
		w.refuse(&FileError{Path: path, Fault: Unreadable, Err: err})
		return
	}
	inside, ok := w.stays(path, target)
	if !ok && w.skip(path, info.Mode(), target) {
		return
	}
	if !ok {
		w.refuse(&FileError{Path: path, Fault: LeavesProject, Detail: target})
		return
	}
	w.add(path, Symlink, info).Link = inside
}

// rules adds the folder's own rules files to those in force around it.
func (w *walk) rules(path string, items []fs.DirEntry, rules scope) scope {
	for _, item := range items {
		name := item.Name()
		if name != gitRules && name != ownRules || !item.Type().IsRegular() {
			continue
		}
		if parsed, ok := w.readRules(join(path, name)); ok {
			rules = rules.with(name, ruleSet{file: join(path, name), folder: path, rules: parsed})
		}
	}
	return rules
}

// readRules reads a rules file, whose path may lead out of the project.
func (w *walk) readRules(path string) ([]rule, bool) {
	data, err := os.ReadFile(w.full(path))
	if err != nil {
		w.refuse(&FileError{Path: path, Fault: Unreadable, Err: err})
		return nil, false
	}
	return parseRules(data), true
}

// named says what a thing is that is neither file, folder nor link.
func named(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeSocket != 0:
		return "socket"
	case mode&fs.ModeNamedPipe != 0:
		return "named pipe"
	case mode&fs.ModeDevice != 0:
		return "device"
	}
	return "special file"
}
