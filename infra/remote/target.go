package remote

import (
	"fmt"
	"net"
	"strconv"
	"strings"
)

// Target is a host to connect to. What its name says wins over the fields, and these over
// ~/.ssh/config.
type Target struct {
	Name string // [USER@]HOST[:PORT], [USER@][ADDRESS]:PORT, an alias of ~/.ssh/config, or Local
	User string // "": from ~/.ssh/config, else who runs this
	Port int    // 0: from ~/.ssh/config, else 22
	Key  string // a key file, offered before all others; "": none
	Jump string // as ProxyJump: HOP[,HOP...], or "none"; "": from ~/.ssh/config
}

// split takes a name apart.
func split(name string) (user, host string, port int, err error) {
	host = strings.TrimPrefix(name, "ssh://")
	if at := strings.LastIndexByte(host, '@'); at >= 0 {
		user, host = host[:at], host[at+1:]
		if user == "" {
			return "", "", 0, fmt.Errorf("host %q has no user before the @", name)
		}
	}
	switch {
	case strings.HasPrefix(host, "[") && strings.HasSuffix(host, "]"):
		host = host[1 : len(host)-1]
	case strings.HasPrefix(host, "["), strings.Count(host, ":") == 1:
		var digits string
		if host, digits, err = net.SplitHostPort(host); err != nil {
			return "", "", 0, fmt.Errorf("host %q is not [USER@]HOST[:PORT]: %w", name, err)
		}
		if port, err = parsePort(digits); err != nil {
			return "", "", 0, fmt.Errorf("host %q: %w", name, err)
		}
	}
	if host == "" || strings.ContainsAny(host, " \t\n/,") {
		return "", "", 0, fmt.Errorf("host %q is not [USER@]HOST[:PORT]", name)
	}
	return user, host, port, nil
}

func parsePort(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > 65535 {
		return 0, fmt.Errorf("port %q is not a number from 1 to 65535", s)
	}
	return n, nil
}

// resolvedTarget is a target with all that is known of it.
type resolvedTarget struct {
	alias   string // as in Host lines of ~/.ssh/config
	host    string // the name that is dialled
	user    string
	port    int
	keys    []string // files, in order
	named   string   // the one that was asked for by name; it is also in keys
	only    bool     // no other keys than these
	agent   string   // socket; "": none
	hops    []string // jump hosts, in order
	proxy   string   // a command of this machine through which the host is reached; "": none
	trusted string   // HOST:PORT under which known_hosts has it
	known   []string // known_hosts files; the first one is written to
	revoked []string // files of RevokedHostKeys
	policy  Policy
}

func (p *resolvedTarget) address() string { return net.JoinHostPort(p.host, strconv.Itoa(p.port)) }

// same tells whether two places are one.
func (p *resolvedTarget) same(q *resolvedTarget) bool {
	return p.host == q.host && p.port == q.port && p.user == q.user
}
