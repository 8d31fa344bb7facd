package host

import (
	"crypto/sha256"
	"encoding/hex"
	"net/netip"
	"strconv"
	"strings"
)

// maxWorker is the length of a worker's name: a label of DNS, so that it also fits host names of
// containers.
const maxWorker = 63

// Names are the hosts' workers' names, in the order of the hosts: short, no two the same, made of
// a-z, 0-9, dash, dot and underscore, beginning with a letter or digit. They are safe as file
// names, labels and parts of container names.
//
// A name is the first label of the host's, or its IP address; where that is not enough the whole
// name, then with user and port where one was given. Names depend on which hosts are listed and not
// on their order, so that listing them anew makes no host take another's name. For the zero Address
// and for what still would be the same, which takes unusual characters, the name ends with a part
// of the address's hash.
func Names(hosts []Address) []string {
	forms := []func(Address) string{shortName, wholeName, withPort, withUser, withBoth}
	names := make([]string, len(hosts))
	level := make([]int, len(hosts))
	for range forms {
		for i, a := range hosts {
			names[i] = safe(forms[level[i]](a))
		}
		clash := false
		for i, twice := range clashes(names) {
			if twice && level[i]+1 < len(forms) {
				level[i]++
				clash = true
			}
		}
		if !clash {
			break
		}
	}
	for i, twice := range clashes(names) {
		if twice || names[i] == "" {
			names[i] = hashed(names[i], hosts[i])
		}
	}
	return names
}

func shortName(a Address) string {
	if _, err := netip.ParseAddr(a.Name); err == nil {
		return a.Name
	}
	label, _, _ := strings.Cut(a.Name, ".")
	return label
}

func wholeName(a Address) string { return strings.TrimSuffix(a.Name, ".") }

func withPort(a Address) string {
	if a.Port == 0 {
		return wholeName(a)
	}
	return wholeName(a) + "-" + strconv.Itoa(a.Port)
}

func withUser(a Address) string {
	if a.User == "" {
		return wholeName(a)
	}
	return a.User + "-" + wholeName(a)
}

func withBoth(a Address) string {
	if a.User == "" {
		return withPort(a)
	}
	return a.User + "-" + withPort(a)
}

// clashes tells of each name whether another is the same, or is this machine's.
func clashes(names []string) []bool {
	count := map[string]int{LocalName: 1}
	for _, n := range names {
		count[n]++
	}
	twice := make([]bool, len(names))
	for i, n := range names {
		twice[i] = count[n] > 1
	}
	return twice
}

// safe puts a dash for every run of other characters.
func safe(text string) string {
	var b strings.Builder
	dash := false
	for _, c := range strings.ToLower(text) {
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '.' || c == '_' || c == '-' {
			b.WriteRune(c)
			dash = false
		} else if !dash {
			b.WriteByte('-')
			dash = true
		}
	}
	name := strings.Trim(b.String(), "-._")
	if len(name) > maxWorker {
		name = strings.TrimRight(name[:maxWorker], "-._")
	}
	return name
}

func hashed(name string, a Address) string {
	sum := sha256.Sum256([]byte(a.String()))
	end := hex.EncodeToString(sum[:])[:12]
	if most := maxWorker - 1 - len(end); len(name) > most {
		name = strings.TrimRight(name[:most], "-._")
	}
	if name == "" {
		return "host-" + end
	}
	return name + "-" + end
}
