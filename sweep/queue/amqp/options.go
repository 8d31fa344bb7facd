package amqp

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
)

// Options say how to reach the broker.
type Options struct {
	URL string // amqp://HOST:PORT/VHOST or amqps://..., without user and password
	// a file with USER:PASSWORD; read at every connect, so that it may change
	Credentials string
	// a file with the certificates (PEM) that may sign the broker's; read as Credentials is. "":
	// the system's
	CA         string
	ServerName string // the name in the broker's certificate; "": the host of the URL
	// http://HOST:PORT of the broker's plugin rabbitmq_prometheus, for what AMQP does not tell; "":
	// none
	Metrics string
	// Holder describes a master to another one that finds the broker in use.
	Holder string
	Log    *slog.Logger // nil: nothing is logged
}

// address is the address in its parts.
type address struct {
	tls   bool
	host  string
	port  string
	vhost string
}

func (p address) String() string {
	text := net.JoinHostPort(p.host, p.port)
	if p.vhost != "/" { // the default one, which goes without saying
		text += "/" + p.vhost
	}
	return text
}

// checked returns the options with their defaults, and the address of the broker.
func (o Options) checked() (Options, address, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	u, err := url.Parse(o.URL)
	switch {
	case err != nil:
		return o, address{}, errors.New("the broker's address is not a URL: write " +
			"amqps://HOST:PORT/VHOST")
	case u.User != nil:
		return o, address{}, errors.New("the broker's address has a user in it, which logs would " +
			"show: " +
			"write USER:PASSWORD into the file with the credentials")
	case u.Scheme != "amqp" && u.Scheme != "amqps" || u.Hostname() == "" || u.RawQuery != "" ||
		u.Fragment != "":
		return o, address{},
			fmt.Errorf("%q is not the address of a broker: write amqps://HOST:PORT/VHOST",
				o.URL)
	case u.Scheme == "amqp" && !isLoopback(u.Hostname()):
		return o, address{}, fmt.Errorf("%q would send the password to another machine in the "+
			"clear: write amqps://HOST:PORT/VHOST", o.URL)
	case !isMetricsAddress(o.Metrics):
		return o, address{}, errors.New("invalid address of the broker's metrics: write " +
			"http://HOST:15692")
	case o.Credentials == "":
		return o, address{}, errors.New("no file with the broker's credentials is named: it has " +
			"one line, USER:PASSWORD")
	}
	p := address{tls: u.Scheme == "amqps", host: u.Hostname(), port: u.Port(), vhost: "/"}
	if len(u.Path) > 1 {
		p.vhost = u.Path[1:]
	}
	if p.port == "" {
		p.port = map[bool]string{false: "5672", true: "5671"}[p.tls]
	}
	return o, p, nil
}

// isLoopback reports whether a name or address is this machine's own.
func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
