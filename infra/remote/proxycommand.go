package remote

import (
	"context"
	"fmt"
	"net"
	"regexp"
	"strconv"
)

// proxyWord is what may stand in a ProxyCommand for a token: a shell reads the command, and names
// come from elsewhere, too, such as the record of a cluster.
var proxyWord = regexp.MustCompile(`^[A-Za-z0-9_:][A-Za-z0-9_.:@%+-]*$`)

// proxyCommand returns the script that a ProxyCommand of ssh_config(5) is; "" for none.
func (p *resolvedTarget) proxyCommand(command string) (string, error) {
	if command == "" || command == "none" {
		return "", nil
	}
	for _, word := range []string{p.host, p.alias, p.user} {
		if !proxyWord.MatchString(word) {
			return "", fmt.Errorf("%q cannot be put into its ProxyCommand", word)
		}
	}
	return "exec " + expand(command, map[byte]string{'h': p.host, 'n': p.alias, 'r': p.user,
		'p': strconv.Itoa(p.port)}), nil
}

// dialProxy starts the command and returns its standard input and output. It ends when they are
// closed.
func (a *attempt) dialProxy(ctx context.Context) (net.Conn, error) {
	conn, err := newLocal(a.d.o.User).Pipe(ctx, Command{Script: a.p.proxy})
	return &proxied{conn, address{"tcp", a.p.address()}}, err
}

// proxied is a connection whose other end is a host, not the command in between.
type proxied struct {
	net.Conn
	to net.Addr
}

func (p *proxied) RemoteAddr() net.Addr { return p.to }
