package folder

import "golang.org/x/sys/unix"

// maxMeasured is how many entries of a folder Size looks at, at most: of programs that write more
// files it returns less than there is.
const maxMeasured = 100_000

// Size returns how much the task has in its folder, in bytes, without what is of the project and
// untouched. What is gone or shut counts nothing. It runs after every attempt, so it takes a handful
// of system calls for the few files that most leave.
func (w *Workspace) Size() (bytes int64) {
	m := measure{left: maxMeasured}
	if len(w.made) > 0 {
		m.copied = map[string]identity{}
	}
	for _, entry := range w.made {
		if !entry.Dir {
			m.copied[entry.Path] = entry.ID
		}
	}
	m.folder(unix.AT_FDCWD, w.Dir, "")
	return m.bytes
}

// measure adds up the sizes of files.
type measure struct {
	copied map[string]identity // of the project
	left   int                 // entries to look at
	bytes  int64
}

// folder adds what a folder holds. It is found from another by name; path is its path in the task's
// folder, "" or with a slash at its end.
func (m *measure) folder(from int, name, path string) {
	var fd int
	err := retry(func() (err error) {
		fd, err = unix.Openat(from, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		return err
	})
	if err != nil {
		return
	}
	defer unix.Close(fd)
	var buf [4096]byte
	var names []string
	for m.left > 0 {
		n, err := unix.ReadDirent(fd, buf[:])
		if err != nil || n <= 0 {
			return
		}
		_, _, names = unix.ParseDirent(buf[:n], -1, names[:0])
		for _, name := range names {
			m.entry(fd, name, path)
		}
	}
}

func (m *measure) entry(folder int, name, path string) {
	var s unix.Stat_t
	if m.left--; m.left < 0 ||
		unix.Fstatat(folder, name, &s, unix.AT_SYMLINK_NOFOLLOW) != nil {
		return
	}
	switch s.Mode & unix.S_IFMT {
	case unix.S_IFDIR:
		m.folder(folder, name, path+name+"/")
	case unix.S_IFREG:
		if id, is := m.copied[path+name]; !is || !id.same(identityOf(&s)) {
			m.bytes += s.Size
		}
	}
}
