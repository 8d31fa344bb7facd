package lab

import (
	"fmt"
	"testing"
)

// Lost tells how many bytes a silent connection has swallowed.
func (c *Conn) Lost() int64 { return c.lost.Load() }

// LeaseOf gives a test so many hosts, which it shares, of labs with three hosts that are nothing
// but folders, and tells which lab that is.
func LeaseOf(t testing.TB, want int, folders ...string) (folder string, hosts int) {
	t.Helper()
	var labs []report
	for _, folder := range folders {
		r := report{Folder: folder}
		for n := range 3 {
			r.Hosts = append(r.Hosts, known{Name: fmt.Sprintf("host%d", n+1)})
		}
		labs = append(labs, r)
	}
	of, leased := lease(t, labs, Options{Hosts: want, Shared: true})
	return of.Folder, len(leased)
}
