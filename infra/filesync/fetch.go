package filesync

import (
	"bufio"
	"context"
	"fmt"
	"maps"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"

	"mlframework/projects"
)

// FetchOptions say what to copy, and where.
type FetchOptions struct {
	Sweep string  // whose outputs
	Tasks []int64 // indexes of its tasks; nil is all that the host has
	// Files are patterns, in the syntax of gitignore(5), of paths below a task's folder; none is
	// all.
	Files []string
	// Without are revisions that tasks ran: what they left of them as it was is no output.
	Without []string
	// Outputs is the folder of outputs below the root, slash separated; "" is "outputs".
	Outputs string
	// Own are the folders of the agent's machine, which is in no cluster; nil: those of the root.
	Own *Folders
	Dir string // files come to Dir/SWEEP/INDEX/...
	// Progress is called after each piece, by the goroutine of Fetch; nil: nobody is told.
	Progress func(Progress)
	// Confirm is called once before contents are asked for, where there are any, and goes on with
	// nil. Nil as a function is Check of the size, with nobody to ask.
	Confirm func(FetchSize) error
}

// Folders are where runs on one machine keep what tasks left, and the revisions of projects.
type Folders struct{ Outputs, Revisions string }

// Fetched says what a fetch did.
type Fetched struct {
	Files   int       // that were copied, whole or in part
	Bytes   int64     // that came over the connection
	Had     int       // that were there already
	Tasks   []int64   // tasks with at least one file that Files selects
	Skipped []Skipped // what was not copied, and is no error
	Folder  string    // the sweep's folder on the host
	// MissingFolders are the requested tasks that have no folder on the host.
	MissingFolders []int64
}

// Skipped is something that a fetch leaves out.
type Skipped struct {
	Path string // below Dir
	Why  string
}

// A ConflictError names files that are in the way: they differ, and no fetch of this sweep made
// them as they are.
type ConflictError struct {
	Dir   string   // the destination
	Paths []string // below it
}

func (e *ConflictError) Error() string {
	const most = 10
	var b strings.Builder
	for _, p := range e.Paths[:min(len(e.Paths), most)] {
		fmt.Fprintf(&b, " %q", p)
	}
	if more := len(e.Paths) - most; more > 0 {
		fmt.Fprintf(&b, " and %d more", more)
	}
	return fmt.Sprintf(
		"in %s are files that differ and were not fetched there:%s: move them away, "+
			"or fetch into another folder with --to", e.Dir, b.String())
}

// Fetch copies outputs of a sweep's tasks from the host. Files that are there are not sent again,
// files that were copied in part or have grown go on where they end, and everything is checked by
// SHA-256. A file that is being written is copied as far as it went when the fetch began; one that
// was replaced meanwhile and would not come whole is left out and told. Holes of files are neither
// sent nor written.
//
// What a task has of its project and did not touch is no output: it is in the task's folder while
// an attempt runs. A link is kept where it stays in its task's own folder whatever becomes of
// others, so its target may go up at its beginning only; other links and what is no file are left
// out and told.
//
// Nothing outside Dir/SWEEP is written, and that folder only where it is new, empty or of an
// earlier fetch of the same sweep of the same cluster, else the error is a *ConflictError. So it is
// for a file or link in it that differs and is not as a fetch left it, and for a folder that is no
// folder on the host any more; the others are copied all the same.
//
// Any number of fetches may have one Dir, for different tasks or hosts. Where hosts share a task
// (it was tried on several), name for each host the tasks whose last attempt ran there.
func (c *Client) Fetch(ctx context.Context, o FetchOptions) (Fetched, error) {
	f := &fetch{client: c, o: o,
		of: Outputs{Identity: c.id, Root: c.root, Folder: o.Outputs, Sweep: o.Sweep}}
	switch {
	case o.Own != nil:
		f.of = Outputs{Folder: o.Own.Outputs, Releases: o.Own.Revisions, Sweep: o.Sweep}
	case o.Outputs == "":
		f.of.Folder = "outputs"
	}
	if !IsSweep(o.Sweep) {
		return f.done, fmt.Errorf("fetch: %q is no sweep", o.Sweep)
	}
	what := "fetch the outputs of " + o.Sweep
	var err error
	if f.to, err = openDestination(o.Dir, o.Sweep, c.id); err != nil {
		return f.done, fmt.Errorf("%s: %w", what, err)
	}
	defer f.to.close()
	if err = failed(ctx, what, f.run(ctx)); err == nil && len(f.conflicts) > 0 {
		err = fmt.Errorf("%s: %w", what, &ConflictError{o.Dir, f.conflicts})
	}
	return f.done, err
}

// IsSweep reports whether a name can be that of a sweep's folder.
func IsSweep(name string) bool {
	return name != "" && len(name) <= 255 && name[0] != '.' && !strings.ContainsAny(name, "/\x00")
}

// A fetch is one call of Fetch.
type fetch struct {
	client    *Client
	o         FetchOptions
	of        Outputs
	to        *destination
	offered   []Output
	chosen    func(Output) bool // of offered, by Files
	folders   []projects.Entry  // that are to be made
	jobs      []job
	links     []projects.Entry
	conflicts []string
	progress  Progress
	done      Fetched
}

func (f *fetch) run(ctx context.Context) error {
	if err := f.list(ctx); err != nil {
		return err
	}
	var err error
	if f.chosen, err = choose(ctx, f.o.Files, f.offered); err != nil {
		return err
	}
	f.countTasks()
	if err := f.compare(ctx); err != nil {
		return err
	}
	if len(f.jobs) > 0 {
		if err := f.o.confirm(f.size()); err != nil {
			return err
		}
	}
	for _, e := range f.folders {
		if err := f.makeFolder(e); err != nil {
			return err
		}
	}
	if err := f.contents(ctx); err != nil {
		return err
	}
	for _, e := range f.links {
		if err := f.link(e); err != nil {
			return err
		}
	}
	return nil
}

// maxOffered bounds what one fetch keeps in memory: about 1 GB for so many files.
const maxOffered = 4 << 20

// list asks what the host has, and takes nothing that could lead out of a task's folder.
func (f *fetch) list(ctx context.Context) error {
	answer, err := f.client.ask(ctx, http.MethodPost, "/outputs", ListRequest{Outputs: f.of,
		All: f.o.Tasks == nil, Tasks: f.o.Tasks, Without: f.o.Without})
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	f.done.Folder = path.Join(f.of.Root, f.of.Folder, f.of.Sweep)
	folders := map[string]bool{}
	chosen := map[string]bool{}
	for _, index := range f.o.Tasks {
		chosen[strconv.FormatInt(index, 10)] = true
	}
	err = ReadOutputs(bufio.NewReaderSize(answer.Body, bufferSize), func(e Output) error {
		task, _, below := strings.Cut(e.Path, "/")
		_, err := strconv.ParseUint(task, 10, 63)
		_, twice := folders[e.Path]
		parent := e.Path[:max(strings.LastIndexByte(e.Path, '/'), 0)]
		switch {
		case err != nil, twice, !projects.IsPath(e.Path), below && !folders[parent],
			!below && e.Kind != projects.Dir && e.Kind != Other, f.o.Tasks != nil && !chosen[task]:
			return fmt.Errorf("the host offers %q, which is no output that was asked for", e.Path)
		case len(f.offered) == maxOffered:
			return fmt.Errorf("the tasks have more than %d files: fetch fewer of them at a time "+
				"with --where", maxOffered)
		}
		folders[e.Path] = e.Kind == projects.Dir
		f.offered = append(f.offered, e)
		return nil
	})
	for _, index := range f.o.Tasks {
		if _, there := folders[strconv.FormatInt(index, 10)]; !there && err == nil {
			f.done.MissingFolders = append(f.done.MissingFolders, index)
		}
	}
	return err
}

// countTasks records the tasks that have a selected file.
func (f *fetch) countTasks() {
	tasks := map[int64]bool{}
	for _, e := range f.offered {
		if e.Kind != projects.Dir && f.chosen(e) {
			task, _, _ := strings.Cut(e.Path, "/")
			index, _ := strconv.ParseInt(task, 10, 64) // list has read it
			tasks[index] = true
		}
	}
	f.done.Tasks = slices.Sorted(maps.Keys(tasks))
}

// shown is a path below Dir.
func (f *fetch) shown(path string) string { return f.o.Sweep + "/" + path }

func (f *fetch) skip(path, why string) {
	f.done.Skipped = append(f.done.Skipped, Skipped{f.shown(path), why})
}

func (f *fetch) conflict(path string) { f.conflicts = append(f.conflicts, f.shown(path)) }

func (f *fetch) report() {
	if f.o.Progress != nil {
		f.o.Progress(f.progress)
	}
}
