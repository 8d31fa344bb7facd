package process

import (
	"os"
	"strconv"
	"strings"
)

// Identity returns a name for this process that is unique since the machine was booted; a pid alone
// may be reused. It is "" if that cannot be determined.
func Identity() string { return IdentityOf(os.Getpid()) }

// IdentityOf returns the name of a process that is alive, as Identity does of this one.
func IdentityOf(pid int) string {
	p, ok := statOf(pid)
	if !ok || p.startTicks == 0 {
		return ""
	}
	return identity(p)
}

func identity(p proc) string {
	return strconv.Itoa(p.pid) + "/" + strconv.FormatUint(p.startTicks, 10)
}

// Alive reports whether the process that Identity named is alive and visible from here.
func Alive(name string) bool {
	pid, _, _ := strings.Cut(name, "/")
	number, err := strconv.Atoi(pid)
	if err != nil || number <= 0 {
		return false
	}
	p, ok := statOf(number)
	return ok && p.state != 'Z' && p.state != 'X' && identity(p) == name
}
