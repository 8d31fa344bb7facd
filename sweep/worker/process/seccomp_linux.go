package process

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// limitCalls are the numbers of prlimit(2) and setrlimit(2) for one kind of program. The filter has
// to know all of them: a machine with 64 bits also runs programs with 32, whose calls have other
// numbers.
var limitCalls = []struct{ arch, prlimit64, setrlimit uint32 }{
	{unix.AUDIT_ARCH_X86_64, 302, 160}, // those of x32 have one more bit, which the filter ignores
	{unix.AUDIT_ARCH_I386, 340, 75},
	{unix.AUDIT_ARCH_AARCH64, 261, 164},
	{unix.AUDIT_ARCH_ARM, 369, 75},
}

// Offsets in what a filter sees of a call, struct seccomp_data of seccomp(2). All these
// architectures are little-endian: of an argument the low half comes first.
const (
	callNumber = 0
	callArch   = 4
	callArgs   = 16
	x32Bit     = 1 << 30
)

// limitsFilter returns a filter that refuses to set limits of another process, and the tag of any
// (EPERM). Reading them, and setting one's own others as process 0, as setrlimit(3) does, is
// allowed. A filter cannot tell a program's own number from another's.
func limitsFilter() (f []unix.SockFilter) {
	const (
		load  = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
		equal = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
		mask  = unix.BPF_ALU | unix.BPF_AND | unix.BPF_K
		end   = unix.BPF_RET | unix.BPF_K
		first = callArgs // of setrlimit: which limit; of prlimit64: the process
		which = callArgs + 8
		limit = callArgs + 2*8 // pointer to the new limit
	)
	for _, call := range limitCalls {
		f = append(f,
			unix.SockFilter{Code: load, K: callArch},
			unix.SockFilter{Code: equal, K: call.arch, Jf: 16}, // to the next architecture
			unix.SockFilter{Code: load, K: callNumber},
			unix.SockFilter{Code: mask, K: ^uint32(x32Bit)},
			unix.SockFilter{Code: equal, K: call.setrlimit, Jf: 2},
			unix.SockFilter{Code: load, K: first},
			unix.SockFilter{Code: equal, K: tagLimit, Jt: 10, Jf: 9}, // it refuses, or allows
			unix.SockFilter{Code: equal, K: call.prlimit64, Jf: 8},   // to the one that allows
			unix.SockFilter{Code: load, K: limit},
			unix.SockFilter{Code: equal, K: 0, Jf: 2}, // past the other half
			unix.SockFilter{Code: load, K: limit + 4},
			unix.SockFilter{Code: equal, K: 0, Jt: 4}, // to the one that allows: it reads
			unix.SockFilter{Code: load, K: first},
			unix.SockFilter{Code: equal, K: 0, Jf: 3}, // to the one that refuses
			unix.SockFilter{Code: load, K: which},
			unix.SockFilter{Code: equal, K: tagLimit, Jt: 1},
			unix.SockFilter{Code: end, K: unix.SECCOMP_RET_ALLOW},
			unix.SockFilter{Code: end, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)})
	}
	// No other architecture runs sweepd.
	return append(f, unix.SockFilter{Code: end, K: unix.SECCOMP_RET_ALLOW})
}

// canFilter returns why the calls of programs cannot be filtered on this machine; nil: they can.
func canFilter() error {
	const so = ": tasks can change limits of other processes"
	switch errno := setFilter(nil); errno {
	case unix.EFAULT: // of the filter that is not there: all before it is fine
		return nil
	case unix.EPERM:
		return errors.New("a seccomp profile forbids seccomp filters here" + so)
	default:
		return errors.New("the kernel has no seccomp filters (Linux 4.17 has)" + so)
	}
}

// filterCalls has the calling thread and what it will start pass a filter, for good.
func filterCalls(f []unix.SockFilter) error {
	if errno := setFilter(&unix.SockFprog{Len: uint16(len(f)), Filter: &f[0]}); errno != 0 {
		return fmt.Errorf("seccomp: %v", errno)
	}
	return nil
}

// setFilter calls seccomp(2). Without SPEC_ALLOW, kernels before 5.16 turn a mitigation on for
// filtered programs that makes them slower (Speculative Store Bypass).
func setFilter(prog *unix.SockFprog) unix.Errno {
	_, _, errno := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER,
		unix.SECCOMP_FILTER_FLAG_SPEC_ALLOW, uintptr(unsafe.Pointer(prog)))
	return errno
}
