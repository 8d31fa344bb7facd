package host

import (
	"cmp"
	"fmt"
	"net/netip"
	"strings"
)

// Normal is the address in the one form that all its spellings share: port 22 written out, names in
// lower case without a last dot, IP addresses in their short form. It is for comparing; what is
// dialled is the address as written.
func (a Address) Normal() Address {
	if a.Local() {
		return a
	}
	a.Name = strings.ToLower(strings.TrimSuffix(a.Name, "."))
	if ip, err := netip.ParseAddr(a.Name); err == nil {
		a.Name = ip.Unmap().String()
	}
	a.Port = cmp.Or(a.Port, 22)
	return a
}

// checkTwice finds addresses that are listed twice, however they are spelled.
func checkTwice(hosts []Address) (faults Faults) {
	first := map[Address]int{}
	for i, a := range hosts {
		if a == (Address{}) {
			continue
		}
		one := a.Normal()
		if earlier, twice := first[one]; twice {
			faults = append(faults, Fault{Hosts, i + 1, fmt.Sprintf(
				"%s is there already, as %s at position %d", a, hosts[earlier], earlier+1),
				"remove one"})
			continue
		}
		first[one] = i
	}
	return faults
}
