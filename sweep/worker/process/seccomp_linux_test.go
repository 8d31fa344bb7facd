package process_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"mlframework/sweep/worker/process"
)

func init() { helpers["confined-without-landlock"] = confinedWithoutLandlock }

// verdict runs a filter on a call, as the kernel does, and returns its answer.
func verdict(t *testing.T, filter []unix.SockFilter, arch, number uint32, args [6]uint64) uint32 {
	t.Helper()
	var call bytes.Buffer
	if err := binary.Write(&call, binary.LittleEndian, struct {
		Number, Arch uint32
		At           uint64
		Args         [6]uint64
	}{number, arch, 0, args}); err != nil {
		t.Fatal(err)
	}
	var a uint32
	for i := 0; i < len(filter); i++ {
		switch in := filter[i]; in.Code {
		case unix.BPF_LD | unix.BPF_W | unix.BPF_ABS:
			a = binary.LittleEndian.Uint32(call.Bytes()[in.K:])
		case unix.BPF_ALU | unix.BPF_AND | unix.BPF_K:
			a &= in.K
		case unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K:
			if a == in.K {
				i += int(in.Jt)
			} else {
				i += int(in.Jf)
			}
		case unix.BPF_RET | unix.BPF_K:
			return in.K
		default:
			t.Fatalf("instruction %d is %+v", i, in)
		}
	}
	t.Fatal("the filter has no answer")
	return 0
}

// TestWhichLimitsTheFilterRefuses tries the filter on calls of every kind of program.
func TestWhichLimitsTheFilterRefuses(t *testing.T) {
	t.Parallel()
	filter := process.LimitsFilter()
	kinds := map[string]struct{ arch, prlimit64, setrlimit uint32 }{
		"amd64": {unix.AUDIT_ARCH_X86_64, 302, 160},
		"x32":   {unix.AUDIT_ARCH_X86_64, 1<<30 | 302, 1<<30 | 160},
		"i386":  {unix.AUDIT_ARCH_I386, 340, 75}, "arm64": {unix.AUDIT_ARCH_AARCH64, 261, 164},
		"arm": {unix.AUDIT_ARCH_ARM, 369, 75},
	}
	if native := kinds[runtime.GOARCH]; native.prlimit64 != unix.SYS_PRLIMIT64 ||
		native.setrlimit != unix.SYS_SETRLIMIT {
		t.Errorf("prlimit64 is %d and setrlimit %d here", unix.SYS_PRLIMIT64, unix.SYS_SETRLIMIT)
	}
	const set = 1 << 20 // an address
	for name, k := range kinds {
		for _, c := range []struct {
			what    string
			number  uint32
			args    [3]uint64
			refused bool
		}{
			{"set one's own", k.prlimit64, [3]uint64{0, 4, set}, false},
			{"set another's", k.prlimit64, [3]uint64{7, 4, set}, true},
			{"set another's, with an address that has no low half", k.prlimit64,
				[3]uint64{7, 4, 1 << 32}, true},
			{"read another's", k.prlimit64, [3]uint64{7, 4, 0}, false},
			{"set that of no process", k.prlimit64, [3]uint64{1<<32 - 1, 4, set}, true},
			{"set one's own, as the kernel takes half of the number", k.prlimit64,
				[3]uint64{1 << 32, 4, set}, false},
			{"set the tag", k.prlimit64, [3]uint64{0, 10, set}, true},
			{"set the tag, with an address that has no low half", k.prlimit64,
				[3]uint64{0, 10, 1 << 32}, true},
			{"set the tag, as the kernel takes half of the number", k.prlimit64,
				[3]uint64{0, 1<<32 | 10, set}, true},
			{"set another's tag", k.prlimit64, [3]uint64{7, 10, set}, true},
			{"read the tag", k.prlimit64, [3]uint64{0, 10, 0}, false},
			{"read another's tag", k.prlimit64, [3]uint64{7, 10, 0}, false},
			{"set one's own by setrlimit", k.setrlimit, [3]uint64{7, set}, false},
			{"set the tag by setrlimit", k.setrlimit, [3]uint64{10, set}, true},
			{"set the tag by setrlimit, with half of the number", k.setrlimit,
				[3]uint64{1<<32 | 10, set}, true},
		} {
			want := uint32(unix.SECCOMP_RET_ALLOW)
			if c.refused {
				want = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
			}
			got := verdict(t, filter, k.arch, c.number, [6]uint64{c.args[0], c.args[1], c.args[2]})
			if got != want {
				t.Errorf("%s, %s: %#x, not %#x", name, c.what, got, want)
			}
		}
		for other := range uint32(500) {
			other |= k.prlimit64 & (1 << 30)
			if other == k.prlimit64 || other == k.setrlimit {
				continue
			}
			got := verdict(t, filter, k.arch, other, [6]uint64{10, 10, set})
			if got != unix.SECCOMP_RET_ALLOW {
				t.Errorf("%s, call %d: %#x", name, other, got)
			}
		}
	}
	got := verdict(t, filter, unix.AUDIT_ARCH_RISCV64, 261, [6]uint64{7, 4, 1 << 20, 0})
	if got != unix.SECCOMP_RET_ALLOW {
		t.Errorf("another architecture: %#x", got)
	}
}

// program32 is a program of i386 for Linux. It sets the limit of its parent's core files to what
// that is, and ends with the number of the error, 0: there was none.
func program32() []byte {
	const base, head, old = 0x08048000, 52 + 32, 0x08048200
	code := []byte{
		0xb8, 64, 0, 0, 0, 0xcd, 0x80, // getppid
		0x89, 0xc3, // ebx: the parent
		// prlimit64(parent, RLIMIT_CORE, NULL, old)
		0xb8, 0x54, 1, 0, 0, 0xb9, 4, 0, 0, 0, 0x31, 0xd2, 0xbe, 0, 0x82, 4, 8, 0xcd, 0x80,
		// prlimit64(parent, RLIMIT_CORE, old, NULL)
		0xb8, 0x54, 1, 0, 0, 0xba, 0, 0x82, 4, 8, 0x31, 0xf6, 0xcd, 0x80,
		0x89, 0xc3, 0xf7, 0xdb, 0xb8, 1, 0, 0, 0, 0xcd, 0x80, // exit(-result)
	}
	var elf bytes.Buffer
	elf.WriteString("\x7fELF\x01\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00")
	for _, part := range []any{
		// an executable for i386
		[]uint16{2, 3}, []uint32{1, base + head, 52, 0, 0}, []uint16{52, 32, 1, 40, 0, 0},
		// all of it in memory, with room for old
		[]uint32{1, 0, base, base, uint32(head + len(code)), 0x1000, 7, 0x1000},
		code,
	} {
		_ = binary.Write(&elf, binary.LittleEndian, part) // a Buffer takes all
	}
	return elf.Bytes()
}

// TestAProgramWith32Bits sets a limit of its parent by the calls of i386, which the kernel of amd64
// has, too.
func TestAProgramWith32Bits(t *testing.T) {
	t.Parallel()
	base, run := cell(t)
	program := filepath.Join(base, "program32")
	if err := os.WriteFile(program, program32(), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := exec.Command(program).Run(); errors.Is(err, unix.ENOEXEC) {
		t.Skip("NOT TESTED: a program of i386, as this machine runs none")
	} else if err != nil {
		t.Fatalf("where it is not confined: %v", err)
	}
	out, err := run("confined", "$BASE/program32; echo error $?")
	if err != nil || out != fmt.Sprintf("error %d\n", unix.EPERM) {
		t.Errorf("it says %q, %v", out, err)
	}
}

// confinedWithoutLandlock is confined where a seccomp profile forbids Landlock, as that of Docker
// before 20.10.10 does.
func confinedWithoutLandlock() int {
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_LANDLOCK_CREATE_RULESET,
			Jf: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	runtime.LockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return say(err)
	}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER,
		unix.SECCOMP_FILTER_FLAG_TSYNC,
		uintptr(unsafe.Pointer(&unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]})))
	if errno != 0 {
		return say(errno)
	}
	fmt.Println(process.CanConfine())
	return confined()
}

// TestWithoutLandlock leaves what the kernel has all the same.
func TestWithoutLandlock(t *testing.T) {
	t.Parallel()
	_, run := cell(t)
	out, err := run("confined-without-landlock",
		"cat $BASE/secrets/credentials; prlimit --pid $PPID --core=0")
	if err == nil || !strings.Contains(out, "forbids Landlock here") ||
		!strings.Contains(out, "text of secrets/credentials") {
		t.Errorf("%v: %s", err, out)
	}
	if strings.Contains(out, "not found") || !strings.Contains(out, "prlimit") {
		t.Errorf("the limit of the worker: %s", out)
	}
}
