package main_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// A sweep runs in a folder whose file system has no memory that processes share, such as NFS, or
// FUSE in many containers, and other commands read the store meanwhile.
func TestNetworkFileSystem(t *testing.T) {
	t.Parallel()
	f := newFolder(t, "grace: 1s", "echo says $TASK_INDEX\nuntil test -e "+
		"$OUTPUT_DIR/../../../go; do sleep 0.02; done\n")
	for _, name := range []string{"lower", "upper", "work", "net"} {
		if err := os.Mkdir(f.path(name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	options := "lowerdir=" + f.path("lower") + ",upperdir=" + f.path("upper") + ",workdir=" +
		f.path("work")
	mount := exec.Command("fuse-overlayfs", "-o", options, f.path("net"))
	if out, err := mount.CombinedOutput(); err != nil {
		t.Skipf("NOT TESTED: fuse-overlayfs is needed: %v %s", err, out)
	}
	t.Cleanup(func() { _ = exec.Command("umount", "-l", f.path("net")).Run() })
	if err := os.CopyFS(f.path("net"), os.DirFS(f.path("p"))); err != nil {
		t.Fatal(err)
	}
	on := folder{t, f.path("net")}
	work := on.start(nil, "work", "--slots", "2")
	work.shows("says 0")
	for _, args := range [][]string{{"ls"}, {"show"}, {"results"}, {"logs", "0"}} {
		if stdout, stderr, code := on.run(args...); code != 0 ||
			!strings.Contains(stdout, "work-1") && args[0] != "logs" {
			t.Errorf("%q while the sweep runs: exit code %d\n%s%s", args, code, stdout, stderr)
		}
	}
	on.write("go", "")
	work.ends(0)
	const note = " is on FUSE: the store uses a rollback journal there, which is slower\n"
	if !strings.Contains(work.stderr.String(), note) {
		t.Errorf("the messages do not have %q:\n%s", note, work.stderr)
	}
	on.over()
}
