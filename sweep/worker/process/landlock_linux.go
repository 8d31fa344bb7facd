package process

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// oldestABI is the Landlock version that confining requires, from Linux 5.19. The first version
// refuses to move any file from one folder to another.
const oldestABI = 2

// Rights of Landlock, see landlock(7).
const (
	readRights  = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE
	listRight   = unix.LANDLOCK_ACCESS_FS_READ_DIR
	writeRights = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR |
		unix.LANDLOCK_ACCESS_FS_REMOVE_FILE | unix.LANDLOCK_ACCESS_FS_MAKE_CHAR |
		unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG |
		unix.LANDLOCK_ACCESS_FS_MAKE_SOCK | unix.LANDLOCK_ACCESS_FS_MAKE_FIFO |
		unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK | unix.LANDLOCK_ACCESS_FS_MAKE_SYM |
		unix.LANDLOCK_ACCESS_FS_REFER
	allRights = readRights | listRight | writeRights | unix.LANDLOCK_ACCESS_FS_TRUNCATE
	// fileRights are those that a rule for a file can have.
	fileRights = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE |
		unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE
)

func landlockABI() (abi int, err error) {
	n, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0,
		unix.LANDLOCK_CREATE_RULESET_VERSION)
	switch {
	case errno == unix.EOPNOTSUPP:
		return 0, errors.New("the kernel has Landlock turned off (add it to the boot option lsm=)")
	case errno == unix.EPERM:
		return 0, errors.New("a seccomp profile forbids Landlock here, " +
			"as that of Docker before 20.10.10 does")
	case errno != 0:
		return 0, errors.New("the kernel has no Landlock (Linux 5.19 has)")
	case n < oldestABI:
		return 0, fmt.Errorf("the kernel's Landlock is too old, version %d (Linux 5.19 has %d)", n,
			oldestABI)
	}
	return int(n), nil
}

// rule grants rights to everything below a file or folder.
type rule struct {
	fd     int
	rights uint64
}

// leading is a folder with a rule for each entry, because one of the entries leads to a protected
// folder.
type leading struct {
	path string
	// when entries were last added or removed
	changed unix.Timespec
}

// protect prepares the Landlock rules for the kernel's version of Landlock.
func (s *sandbox) protect(c Confinement, abi int) (err error) {
	s.landlock, s.attr.Handled_access_fs = true, allRights
	if abi < 3 { // Linux before 6.2: files that can be written to by nobody else can be truncated
		s.attr.Handled_access_fs &^= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	if abi >= 6 { // Linux 6.12
		s.attr.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
	}
	for _, part := range []struct {
		from []string
		to   *[]string
	}{{c.Hidden, &s.hidden}, {c.ReadOnly, &s.readOnly}, {writableCgroups(), &s.readOnly},
		{c.Writable, &s.writable}} {
		for _, path := range part.from {
			if path, err = filepath.EvalSymlinks(path); err != nil {
				return err
			}
			*part.to = append(*part.to, path)
		}
	}
	return s.build()
}

// restrict applies the Landlock rules to the calling thread.
func (s *sandbox) restrict(own []string) error {
	set, err := s.ruleset()
	if err != nil {
		return err
	}
	defer unix.Close(set)
	for _, path := range own {
		if err := s.allow(set, path); err != nil {
			return err
		}
	}
	_, _, errno := unix.RawSyscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(set), 0, 0)
	if errno != 0 {
		return fmt.Errorf("landlock_restrict_self: %w", errno)
	}
	return nil
}

// ruleset creates the ruleset that all programs share.
func (s *sandbox) ruleset() (fd int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.outdated() {
		if err := s.build(); err != nil {
			return -1, err
		}
	}
	n, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&s.attr)),
		unsafe.Sizeof(s.attr), 0)
	if errno != 0 {
		return -1, fmt.Errorf("landlock_create_ruleset: %w", errno)
	}
	for _, r := range s.rules {
		if err := addRule(int(n), r); err != nil {
			unix.Close(int(n))
			return -1, err
		}
	}
	return int(n), nil
}

// allow grants a program all rights below a folder.
func (s *sandbox) allow(set int, path string) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return &os.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(fd)
	return addRule(set, rule{fd, s.attr.Handled_access_fs})
}

func addRule(set int, r rule) error {
	attr := unix.LandlockPathBeneathAttr{Allowed_access: r.rights, Parent_fd: int32(r.fd)}
	_, _, errno := unix.RawSyscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(set),
		unix.LANDLOCK_RULE_PATH_BENEATH,
		uintptr(unsafe.Pointer(&attr)), 0, 0, 0)
	if errno != 0 {
		return fmt.Errorf("landlock_add_rule: %w", errno)
	}
	return nil
}

// outdated reports whether the folders on the way to protected ones may have entries without a
// rule.
func (s *sandbox) outdated() bool {
	for _, l := range s.leading {
		var st unix.Stat_t
		if unix.Lstat(l.path, &st) != nil || st.Mtim != l.changed {
			return true
		}
	}
	return false
}

// build creates the rules. Landlock can only allow: it is given everything beside a protected
// folder, and everything beside each folder on the way to it.
func (s *sandbox) build() (err error) {
	defer func() {
		if err != nil {
			s.leading = []leading{{}} // no such folder: the next program tries again
		}
	}()
	for _, r := range s.rules {
		unix.Close(r.fd)
	}
	s.rules, s.leading = nil, nil
	rights := map[string]uint64{"/": listRight}
	around(s.hidden, "/", s.entries, func(path string) { rights[path] |= readRights })
	around(slices.Concat(s.hidden, s.readOnly), "/", s.entries,
		func(path string) { rights[path] |= allRights &^ readRights })
	for _, path := range s.writable {
		rights[path] = allRights
	}
	for path, rights := range rights {
		if err := s.grant(path, rights&s.attr.Handled_access_fs); err != nil {
			return err
		}
	}
	return nil
}

// grant adds a rule. A path that is gone needs none, nor does one that this user, and thus his
// programs, cannot access.
func (s *sandbox) grant(path string, rights uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err == unix.ENOENT || err == unix.EACCES {
		return nil
	}
	var st unix.Stat_t
	if err == nil {
		err = unix.Fstat(fd, &st)
	}
	if err != nil {
		return &os.PathError{Op: "open", Path: path, Err: err}
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		rights &= fileRights
	}
	if rights == 0 || st.Mode&unix.S_IFMT == unix.S_IFLNK { // what a link leads to has its own
		unix.Close(fd)
		return nil
	}
	s.rules = append(s.rules, rule{fd, rights})
	return nil
}

// entries returns the names in a folder on the way to a protected one.
func (s *sandbox) entries(folder string) []string {
	l := leading{path: folder}
	var st unix.Stat_t
	// before it is read: what comes meanwhile is seen the next time
	if unix.Lstat(folder, &st) == nil {
		l.changed = st.Mtim
	}
	s.leading = append(s.leading, l)
	dir, err := os.Open(folder)
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1) // what was read before an error counts
	return names
}

// around calls each for the largest subtrees of path that contain none of the protected paths.
func around(protected []string, path string, entries func(folder string) []string,
	each func(path string)) {
	below := strings.TrimSuffix(path, "/") + "/"
	switch {
	case slices.Contains(protected, path):
	case !slices.ContainsFunc(protected,
		func(p string) bool { return strings.HasPrefix(p, below) }):
		each(path)
	default:
		names := entries(path)
		for _, p := range protected { // a folder that leads there may be one that cannot be listed
			if rest, leads := strings.CutPrefix(p, below); leads {
				name, _, _ := strings.Cut(rest, "/")
				names = append(names, name)
			}
		}
		slices.Sort(names)
		for _, name := range slices.Compact(names) {
			around(protected, below+name, entries, each)
		}
	}
}
