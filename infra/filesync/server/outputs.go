package server

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"mlframework/infra/agent"
	"mlframework/infra/filesync"
	"mlframework/infra/layout"
	"mlframework/projects"
)

// A sweep is the folder of a sweep's outputs.
type sweep struct {
	*os.Root // no name leads out of it
	releases string
	release  func(path string) (*os.Root, error)
	close    func()
}

// openSweep opens the folder of a sweep's outputs. Those of a machine that is in no cluster may be
// links.
func openSweep(of filesync.Outputs) (s sweep, err error) {
	if !filesync.IsSweep(of.Sweep) || of.Root != "" && !filepath.IsLocal(of.Folder) {
		return s, fmt.Errorf("there can be no sweep %q in a folder %q", of.Sweep, of.Folder)
	}
	if of.Root == "" {
		s.Root, err = os.OpenRoot(filepath.Join(of.Folder, of.Sweep))
		s.releases, s.release, s.close = filepath.ToSlash(of.Releases), os.OpenRoot, func() {}
	} else {
		root, opened := openRoot(of.Root, of.Identity, false)
		if opened != nil {
			return s, opened
		}
		s.Root, err = root.OpenRoot(path.Join(of.Folder, of.Sweep))
		s.releases, s.release, s.close = layout.Releases, root.OpenRoot, func() { root.Close() }
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = absentError("there are no outputs of " + of.Sweep)
	}
	if err != nil {
		s.close()
		return s, err
	}
	return s, s.lock(of.Sweep)
}

// lock keeps the worker from removing the outputs until the sweep is closed. Where the file system
// has no locks nobody waits for one.
func (s *sweep) lock(name string) error {
	folder, err := s.Open(".")
	if err != nil {
		s.close()
		return err
	}
	closeRoots := s.close
	s.close = func() { folder.Close(); s.Root.Close(); closeRoots() }
	err = syscall.Flock(int(folder.Fd()), syscall.LOCK_SH|syscall.LOCK_NB)
	if err == syscall.EWOULDBLOCK {
		s.close()
		return fmt.Errorf("the outputs of %s are being removed", name)
	}
	return nil
}

// listOutputs answers with a list of the outputs of a sweep's tasks. It reads no file but those
// that tasks may have of their project, and opens those that have holes.
func listOutputs(w http.ResponseWriter, r *http.Request) error {
	var q filesync.ListRequest
	if err := agent.ReadBody(r, maxBody, &q); err != nil {
		return err
	}
	all, err := listed(r.Context(), q)
	if err != nil && !isAbsent(err) {
		return err
	}
	to := bufio.NewWriterSize(w, bufferSize)
	var piece []byte
	for _, o := range all {
		piece = filesync.AppendOutput(piece[:0], o)
		_, _ = to.Write(piece)
	}
	_ = to.WriteByte(filesync.EndOfEntries)
	_ = to.Flush() // whoever asked is gone
	return nil
}

func listed(ctx context.Context, q filesync.ListRequest) ([]filesync.Output, error) {
	s, err := openSweep(q.Outputs)
	if err != nil {
		return nil, err
	}
	defer s.close()
	var chosen map[int64]bool // nil: every task
	if !q.All {
		chosen = map[int64]bool{}
		for _, t := range q.Tasks {
			chosen[t] = true
		}
	}
	all, err := outputs(ctx, s.Root, chosen)
	if err != nil {
		return nil, err
	}
	checkouts, err := checkouts(q.Without, s.releases, s.release)
	defer func() {
		for _, c := range checkouts {
			c.files.Close()
		}
	}()
	if err != nil {
		return nil, err
	}
	return ofTasks(all, checkouts), nil
}

// outputs lists what the tasks of a sweep have left, below their indexes; a folder comes before
// what it holds.
func outputs(
	ctx context.Context, sweep *os.Root, chosen map[int64]bool,
) (all []filesync.Output, err error) {
	folder, err := sweep.Open(".")
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	tasks, err := fs.ReadDir(sweep.FS(), ".")
	if err != nil {
		return nil, err
	}
	for _, task := range tasks {
		index, err := strconv.ParseInt(task.Name(), 10, 64)
		if err != nil || index < 0 || strconv.FormatInt(index, 10) != task.Name() ||
			!task.IsDir() || chosen != nil && !chosen[index] {
			continue
		}
		err = fs.WalkDir(sweep.FS(), task.Name(), func(
			name string, item fs.DirEntry, err error,
		) error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			e, skip := output(sweep, folder, name, item, err)
			if last := len(all) - 1; last >= 0 && all[last].Path == e.Path {
				all = all[:last] // a folder that turns out not to be readable
			}
			if e.Kind != "" {
				all = append(all, e)
			}
			return skip
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// output describes one item; a zero entry is one that is gone. skip is fs.SkipDir where a folder
// cannot be entered.
func output(
	sweep *os.Root, folder *os.File, name string, item fs.DirEntry, failed error,
) (e filesync.Output, skip error) {
	e.Path = name
	if len(name) > filesync.MaxName {
		return noOutput(name[:filesync.MaxName], "its path is too long"), fs.SkipDir
	}
	var info fs.FileInfo
	if failed == nil {
		info, failed = item.Info()
	}
	if errors.Is(failed, fs.ErrNotExist) {
		return filesync.Output{}, nil
	}
	if failed != nil {
		return noOutput(name, unreadable(failed)), fs.SkipDir
	}
	e.Mode, e.ModTime = info.Mode().Perm(), projects.ModTime(info)
	switch mode := info.Mode(); {
	case mode.IsRegular():
		e.Kind, e.Size = projects.File, info.Size()
		e.Data, e.Inode = dataSize(sweep, name, info), inode(folder, name, info)
		if e.Size > maxSparse && e.Data < e.Size/100 {
			return noOutput(name, "it is a sparse file of more than 64 GiB that contains almost "+
				"no data"), nil
		}
	case mode.IsDir():
		e.Kind = projects.Dir
	case mode.Type() == fs.ModeSymlink:
		e.Kind = projects.Symlink
		if e.Link, failed = sweep.Readlink(name); failed != nil {
			return filesync.Output{}, nil
		}
	default:
		e.Kind, e.Link = filesync.Other, "it is neither file, folder nor link"
	}
	return e, nil
}

// maxSparse is the size in bytes above which a sparse file that contains almost no data is skipped:
// its checksum would take minutes.
const maxSparse = 64 << 30

// noOutput is what is no output, and why.
func noOutput(name, why string) filesync.Output {
	return filesync.Output{Entry: projects.Entry{Path: name, Kind: filesync.Other,
		ModTime: time.Unix(0, 0), Link: why}}
}

// unreadable is why what is there is no output, and what to do about it.
func unreadable(err error) string {
	why := "it cannot be read: " + cause(err)
	if errors.Is(err, fs.ErrPermission) {
		why += ": see that your user may read it on the host"
	}
	return why
}

// cause is an error's text without the operation and path that package os puts before it.
func cause(err error) string {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err
	}
	return err.Error()
}
