package host

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"unicode"
)

// Longest texts: a DNS name (RFC 1035, 2.3.4), and a user name on Linux with room to spare for a
// domain's.
const (
	maxName = 253
	maxUser = 64
)

// Split takes a list apart at its commas. Spaces around an element do not count. Empty elements
// stay, for their readers to refuse; a text without anything has no element.
func Split(text string) []string {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	elements := strings.Split(text, ",")
	for i, e := range elements {
		elements[i] = strings.TrimSpace(e)
	}
	return elements
}

// Parse reads one address: [user@]name[:port]. An IPv6 address stands in brackets, which it may do
// without when it has no port. The error is a Fault without an option.
func Parse(text string) (Address, error) {
	a, f := parse(strings.TrimSpace(text))
	if f.Problem != "" {
		return Address{}, f
	}
	return a, nil
}

// ParseList reads the elements of -a. A faulty element is the zero Address in the list, so that the
// others keep their numbers. The error is of type Faults. Whether a host is there twice is found by
// Check.
func ParseList(elements []string) ([]Address, error) {
	list := make([]Address, len(elements))
	var faults Faults
	for i, e := range elements {
		a, f := parse(strings.TrimSpace(e))
		if a.Local() {
			f = Fault{Problem: "local is this machine, which is not among the hosts",
				Remedy: "leave it out here, and write -m local or -w local"}
		}
		if f.Problem != "" {
			f.Option, f.Element = Hosts, i+1
			faults = append(faults, f)
			continue
		}
		list[i] = a
	}
	return list, faults.err()
}

func parse(text string) (Address, Fault) {
	if text == "" {
		return Address{}, Fault{Problem: "is empty", Remedy: "write [user@]host[:port], or " +
			"remove a comma"}
	}
	var a Address
	rest := text
	if at := strings.LastIndexByte(text, '@'); at >= 0 {
		a.User, rest = text[:at], text[at+1:]
		if f := checkUser(text, a.User); f.Problem != "" {
			return Address{}, f
		}
	}
	name, port, f := cutPort(text, rest)
	if f.Problem != "" {
		return Address{}, f
	}
	a.Name, a.Port = name, port
	if f := checkName(text, a); f.Problem != "" {
		return Address{}, f
	}
	return a, Fault{}
}

// cutPort takes the port off; text is the whole address, for messages.
func cutPort(text, rest string) (name string, port int, f Fault) {
	var digits string
	var found bool
	switch {
	case strings.HasPrefix(rest, "["):
		inside, after, closed := strings.Cut(rest[1:], "]")
		if !closed || after != "" && after[0] != ':' {
			return "", 0, Fault{Problem: quote(text) + " has brackets that do not fit",
				Remedy: "write an IPv6 address with a port as [2001:db8::1]:22"}
		}
		if ip, err := netip.ParseAddr(inside); err != nil || !ip.Is6() {
			return "", 0, Fault{Problem: quote(text) + " has no IPv6 address in its brackets",
				Remedy: "write host:port without them"}
		}
		name, digits, found = inside, strings.TrimPrefix(after, ":"), after != ""
	case strings.Count(rest, ":") > 1: // IPv6 without brackets
		if ip, err := netip.ParseAddr(rest); err != nil || !ip.Is6() {
			return "", 0, Fault{Problem: quote(text) + " has more than one colon and is no IPv6 " +
				"address", Remedy: "write host:port or [2001:db8::1]:port"}
		}
		name = rest
	default:
		name, digits, found = strings.Cut(rest, ":")
	}
	if !found {
		return name, 0, Fault{}
	}
	port, err := strconv.Atoi(digits)
	if err != nil || strings.Trim(digits, "0123456789") != "" || port < 1 || port > 65535 {
		return "", 0, Fault{Problem: fmt.Sprintf("%s: %s is no port", quote(text), quote(digits)),
			Remedy: "write a number from 1 to 65535 after the colon"}
	}
	return name, port, Fault{}
}

func checkUser(text, user string) Fault {
	switch {
	case user == "":
		return Fault{Problem: quote(text) + " has no user before the @", Remedy: "write " +
			"user@host, or host alone"}
	case len(user) > maxUser || strings.HasPrefix(user, "-") || strings.ContainsFunc(user,
		notInUser):
		return Fault{Problem: fmt.Sprintf("%s: %s is no name of a user", quote(text), quote(user)),
			Remedy: "write user@host"}
	}
	return Fault{}
}

// notInUser is true for what a shell, ssh's command line or a path could take for something else.
func notInUser(c rune) bool {
	return unicode.IsSpace(c) || !unicode.IsPrint(c) ||
		strings.ContainsRune(`"'$`+"`"+`&;|<>(){}[]*?!#:/@`, c)
}

func checkName(text string, a Address) Fault {
	ip, err := netip.ParseAddr(a.Name)
	unsafe := a.Name
	if err == nil {
		unsafe = ip.Zone()
	}
	switch {
	case a.Name == "":
		return Fault{Problem: quote(text) + " names no host", Remedy: "write [user@]host[:port]"}
	case strings.EqualFold(a.Name, LocalName) && a != Local:
		return Fault{Problem: quote(text) + ": " + LocalName + " is this machine, which has no " +
			"user and no port", Remedy: "write " + LocalName + ", or localhost to go by ssh"}
	case strings.HasPrefix(a.Name, "-"):
		return Fault{Problem: quote(text) + ": a host does not begin with -",
			Remedy: "write [user@]host[:port]"}
	case len(a.Name) > maxName || strings.ContainsFunc(unsafe, notInName) ||
		strings.Trim(a.Name, ".-_+") == "" || strings.Contains(a.Name, ".."):
		return Fault{Problem: quote(text) + " is no address of a host", Remedy: "write " +
			"[user@]host[:port], hosts apart by commas"}
	}
	return Fault{}
}

// notInName allows what DNS names and aliases of ssh's configuration are made of.
func notInName(c rune) bool {
	return !unicode.IsLetter(c) && !unicode.IsDigit(c) && !strings.ContainsRune("._-+", c)
}

// quote repeats what a person wrote: escaped, and not too long.
func quote(text string) string {
	const most = 60
	if r := []rune(text); len(r) > most {
		text = string(r[:most]) + "…"
	}
	return strconv.Quote(text)
}
