package remote

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// resolve finds out what a target means, as ssh would. jump replaces the jump hosts of the
// configuration; nil does not.
func (d *Dialer) resolve(t Target, jump []string) (*resolvedTarget, error) {
	user, host, port, err := split(t.Name)
	if err != nil {
		return nil, err
	}
	get := func(key string) string { return d.config.get(host, key) }
	p := &resolvedTarget{alias: host, only: d.config.yes(host, "IdentitiesOnly")}
	p.user = first(user, t.User, get("User"), d.o.User)
	if p.port = first(port, t.Port); p.port == 0 {
		if p.port, err = parsePort(first(get("Port"), "22")); err != nil {
			return nil, fmt.Errorf("ssh configuration of %s: %w", host, err)
		}
	}
	p.host = strings.ToLower(host)
	if name := get("HostName"); name != "" {
		p.host = strings.ToLower(expand(name, map[byte]string{'h': host}))
	}
	if jump == nil && t.Jump == "" && get("ProxyJump") == "" {
		if p.proxy, err = p.proxyCommand(get("ProxyCommand")); err != nil {
			return nil, fmt.Errorf("ssh configuration of %s: %w", host, err)
		}
	}
	d.warnOfIgnored(p)
	d.resolveKeys(p, t)
	d.resolveTrust(p)
	return p, d.resolveHops(p, first(t.Jump, get("ProxyJump")), jump)
}

// ignored are keywords of ssh_config(5) that choose algorithms. What is used is what the library
// takes for safe.
var ignored = []string{"KexAlgorithms", "Ciphers", "MACs", "HostKeyAlgorithms",
	"CASignatureAlgorithms"}

// warnOfIgnored tells of keywords for a host that have no effect here.
func (d *Dialer) warnOfIgnored(p *resolvedTarget) {
	var all []string
	for _, key := range ignored {
		if d.config.get(p.alias, key) != "" {
			all = append(all, key)
		}
	}
	if len(all) > 0 {
		d.warn(p.alias, strings.Join(all, ", ")+" of your ssh configuration have no effect here")
	}
}

// first gives the first value that is not zero.
func first[T comparable](values ...T) (none T) {
	for _, v := range values {
		if v != none {
			return v
		}
	}
	return none
}

func (d *Dialer) resolveKeys(p *resolvedTarget, t Target) {
	p.named = first(t.Key, d.o.Identity)
	for _, file := range []string{t.Key, d.o.Identity} {
		if file != "" {
			p.keys = append(p.keys, d.file(p, file))
		}
	}
	for _, file := range d.config.all(p.alias, "IdentityFile") {
		if file != "none" {
			p.keys = append(p.keys, d.file(p, file))
		}
	}
	if p.named != "" {
		p.named = p.keys[0]
	}
	p.agent = d.o.Agent
	switch socket := d.config.get(p.alias, "IdentityAgent"); {
	case socket == "" || socket == "SSH_AUTH_SOCK":
	case strings.HasPrefix(socket, "$"):
		p.agent = os.Getenv(socket[1:])
	default:
		p.agent = d.file(p, socket)
	}
	if p.agent == "none" {
		p.agent = ""
	}
}

func (d *Dialer) resolveTrust(p *resolvedTarget) {
	p.trusted = p.address()
	if alias := d.config.get(p.alias, "HostKeyAlias"); alias != "" {
		// an alias stands alone, whatever the port
		p.trusted = net.JoinHostPort(strings.ToLower(alias), "22")
	}
	for _, of := range []struct{ key, files string }{
		{"UserKnownHostsFile", "~/.ssh/known_hosts ~/.ssh/known_hosts2"},
		{"GlobalKnownHostsFile", "/etc/ssh/ssh_known_hosts /etc/ssh/ssh_known_hosts2"},
	} {
		for _, file := range strings.Fields(first(d.config.get(p.alias, of.key), of.files)) {
			if file != "none" {
				p.known = append(p.known, d.file(p, file))
			}
		}
	}
	for _, file := range strings.Fields(d.config.get(p.alias, "RevokedHostKeys")) {
		if file != "none" {
			p.revoked = append(p.revoked, d.file(p, file))
		}
	}
	p.policy = first(d.o.HostKeys,
		configuredPolicy(d.HostKeyCheck(p.alias)))
}

// configuredPolicy returns the policy of a StrictHostKeyChecking of ssh_config(5). Where ssh would
// ask, an unknown host is refused, as nobody is asked here. What takes changed keys is less careful
// than AcceptNew, and only an option of this program may be that.
func configuredPolicy(value string) Policy {
	switch strings.ToLower(value) {
	case "yes", "ask":
		return Yes
	}
	return AcceptNew
}

// file is the path of a file that the user or ~/.ssh/config names, with ~ and the tokens of
// ssh_config(5).
func (d *Dialer) file(p *resolvedTarget, name string) string {
	name = expand(name, map[byte]string{'d': d.o.Home, 'h': p.host, 'n': p.alias, 'r': p.user,
		'p': strconv.Itoa(p.port), 'u': d.o.User})
	if name == "~" || strings.HasPrefix(name, "~/") {
		return filepath.Join(d.o.Home, name[1:])
	}
	return name
}

// expand replaces %TOKENS; those that it does not know stay.
func expand(s string, tokens map[byte]string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '%' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		if v, ok := tokens[s[i]]; ok {
			b.WriteString(v)
		} else if s[i] == '%' {
			b.WriteByte('%')
		} else {
			b.WriteString(s[i-1 : i+1])
		}
	}
	return b.String()
}
