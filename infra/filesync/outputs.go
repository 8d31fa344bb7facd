package filesync

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"mlframework/infra/layout"
	"mlframework/projects"
)

// selection reads which tasks a fetch is for; nil is every task.
func (s *server) selection(ctx context.Context, q request) (map[int64]bool, error) {
	if !validSweep(q.Sweep) || !filepath.IsLocal(q.Outputs) {
		return nil, refuse(Malformed, "there can be no sweep %q in a folder %q", q.Sweep, q.Outputs)
	}
	if q.All {
		return nil, nil
	}
	chosen := map[int64]bool{}
	err := s.list(ctx, func(d *decoder) { chosen[int64(d.number(math.MaxInt64))] = true })
	return chosen, err
}

// validSweep says whether a name can be that of a sweep's folder.
func validSweep(name string) bool {
	return name != "" && len(name) <= 255 && name[0] != '.' && !strings.ContainsAny(name, "/\x00")
}

// fetch offers the outputs of a sweep's tasks and sends what the client wants of them.
func (s *server) fetch(ctx context.Context, r *root, q request) error {
	chosen, err := s.selection(ctx, q)
	if err != nil {
		return err
	}
	folder, err := r.OpenRoot(path.Join(q.Outputs, q.Sweep))
	if errors.Is(err, fs.ErrNotExist) {
		return s.offer(ctx, nil)
	}
	if err != nil {
		return err
	}
	defer folder.Close()
	projects, err := checkouts(q.Without, layout.Releases, r.OpenRoot)
	defer closeAll(projects)
	if err != nil {
		return err
	}
	return s.fetchFrom(ctx, folder, chosen, projects)
}

// fetchOwn is fetch from folders of this machine, which may be links.
func (s *server) fetchOwn(ctx context.Context, q request) error {
	chosen, err := s.selection(ctx, q)
	if err != nil {
		return err
	}
	folder, err := os.OpenRoot(filepath.Join(s.o.Own.Outputs, q.Sweep))
	if errors.Is(err, fs.ErrNotExist) {
		return s.offer(ctx, nil)
	}
	if err != nil {
		return err
	}
	defer folder.Close()
	projects, err := checkouts(q.Without, filepath.ToSlash(s.o.Own.Revisions), os.OpenRoot)
	defer closeAll(projects)
	if err != nil {
		return err
	}
	return s.fetchFrom(ctx, folder, chosen, projects)
}

func closeAll(all []checkout) {
	for _, c := range all {
		_ = c.files.Close()
	}
}

func (s *server) fetchFrom(ctx context.Context, folder *os.Root, chosen map[int64]bool, projects []checkout) error {
	offered, err := outputs(ctx, folder, chosen)
	if err != nil {
		return err
	}
	offered = ofTasks(folder, offered, projects)
	if err := s.offer(ctx, offered); err != nil {
		return err
	}
	wants, err := s.wants(ctx, len(offered))
	if err != nil {
		return err
	}
	for _, w := range wants {
		if err := s.send(ctx, folder, offered[w.index], w); err != nil {
			return err
		}
	}
	return nil
}

// offer sends the list of what there is.
func (s *server) offer(ctx context.Context, entries []projects.Entry) error {
	err := s.wire.writeList(len(entries), func(to []byte, i int) []byte { return appendEntry(to, entries[i]) })
	if err := errors.Join(err, s.wire.flush(), ctx.Err()); err != nil || len(entries) > 0 {
		return err
	}
	_, err = s.wants(ctx, 0) // the client's empty list
	return err
}

// outputs lists what the tasks of a sweep have left, below their indexes; a folder comes before what it holds.
func outputs(ctx context.Context, sweep *os.Root, chosen map[int64]bool) (all []projects.Entry, err error) {
	tasks, err := fs.ReadDir(sweep.FS(), ".")
	if err != nil {
		return nil, err
	}
	for _, task := range tasks {
		index, err := strconv.ParseInt(task.Name(), 10, 64)
		if err != nil || index < 0 || strconv.FormatInt(index, 10) != task.Name() || !task.IsDir() || chosen != nil && !chosen[index] {
			continue
		}
		err = fs.WalkDir(sweep.FS(), task.Name(), func(name string, item fs.DirEntry, err error) error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			e, skip := output(sweep, name, item, err)
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

// output describes one item; a zero entry is one that is gone. skip is fs.SkipDir where a folder cannot be entered.
func output(sweep *os.Root, name string, item fs.DirEntry, failed error) (e projects.Entry, skip error) {
	e.Path = name
	if len(name) > maxText {
		return projects.Entry{Path: name[:maxText], Kind: other, Link: "its path is too long"}, fs.SkipDir
	}
	var info fs.FileInfo
	if failed == nil {
		info, failed = item.Info()
	}
	if errors.Is(failed, fs.ErrNotExist) {
		return projects.Entry{}, nil
	}
	if failed != nil {
		return projects.Entry{Path: name, Kind: other, Link: "it cannot be read: " + cause(failed)}, fs.SkipDir
	}
	e.Mode, e.ModTime = info.Mode().Perm(), info.ModTime()
	switch mode := info.Mode(); {
	case mode.IsRegular():
		e.Kind, e.Size = projects.File, info.Size()
	case mode.IsDir():
		e.Kind = projects.Dir
	case mode.Type() == fs.ModeSymlink:
		e.Kind = projects.Symlink
		if e.Link, failed = sweep.Readlink(name); failed != nil {
			return projects.Entry{}, nil
		}
	default:
		e.Kind, e.Link = other, "it is neither file, folder nor link"
	}
	return e, nil
}

// cause is an error's text without the operation and path that package os puts before it.
func cause(err error) string {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err
	}
	return err.Error()
}
