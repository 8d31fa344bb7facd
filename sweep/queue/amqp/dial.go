package amqp

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"github.com/rabbitmq/amqp091-go"
)

// connection is a connection of the library and the socket below, so that its end never waits for
// the broker.
type connection struct {
	*amqp091.Connection
	socket *socket
	id     string // no other connection has it
	user   string
}

// hangUp ends the connection, politely if the broker still answers.
func (c *connection) hangUp() {
	late := time.AfterFunc(closeTimeout, func() { c.socket.Close() })
	defer late.Stop()
	_ = c.CloseDeadline(time.Now().Add(closeTimeout)) // it is closed, whatever it says
}

// program is the broker's name and version, as it told.
func (c *connection) program() string {
	name, _ := c.Properties["product"].(string)
	version, _ := c.Properties["version"].(string)
	return strings.TrimSpace(name + " " + version)
}

// dial connects. Its errors are faults.
func dial(ctx context.Context, o Options, at address) (*connection, error) {
	user, password, err := readCredentials(o.Credentials)
	if err != nil {
		return nil, explain(at, err, nil)
	}
	trust, err := readTrust(o, at)
	if err != nil {
		return nil, explain(at, err, nil)
	}
	raw, err := (&net.Dialer{Timeout: dialTimeout}).DialContext(ctx, "tcp",
		net.JoinHostPort(at.host, at.port))
	if err != nil {
		return nil, explain(at, err, nil)
	}
	s := &socket{Conn: raw}
	stop := context.AfterFunc(ctx, func() { s.Close() })
	defer stop()
	_ = raw.SetDeadline(time.Now().Add(handshakeTimeout))
	c, err := open(s, trust, amqp091.Config{
		SASL: []amqp091.Authentication{&amqp091.PlainAuth{Username: user,
			Password: password}},
		Vhost:      at.vhost,
		Heartbeat:  heartbeat,
		Locale:     "en_US",
		Properties: amqp091.Table{"product": "mlframework"},
	})
	if err != nil {
		s.Close()
		return nil, explain(at, err, s.answer())
	}
	return &connection{c, s, rand.Text()[:12], user}, nil
}

// open speaks TLS, unless trust is nil, and the protocol's greeting.
func open(s *socket, trust *tls.Config, config amqp091.Config) (*amqp091.Connection, error) {
	if trust == nil {
		return amqp091.Open(s, config)
	}
	protected := tls.Client(s, trust)
	if err := protected.Handshake(); err != nil {
		return nil, err
	}
	return amqp091.Open(protected, config)
}

func readCredentials(file string) (user, password string, err error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return "", "", &fileError{"file with the credentials", file, err}
	}
	user, password, ok := strings.Cut(strings.TrimRight(string(data), "\r\n"), ":")
	if !ok || user == "" || strings.Contains(password, "\n") {
		return "", "", &fileError{"file with the credentials", file,
			errors.New("it is not one line USER:PASSWORD")}
	}
	return user, password, nil
}

// readTrust returns which certificates to trust; nil without TLS.
func readTrust(o Options, at address) (*tls.Config, error) {
	if !at.tls {
		return nil, nil
	}
	file := o.CA
	c := &tls.Config{ServerName: cmp.Or(o.ServerName, at.host), MinVersion: tls.VersionTLS12}
	if file == "" {
		return c, nil
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, &fileError{"CA file", file, err}
	}
	c.RootCAs = x509.NewCertPool()
	if !c.RootCAs.AppendCertsFromPEM(data) {
		return nil, &fileError{"CA file", file, fmt.Errorf("it has no certificate in PEM form")}
	}
	return c, nil
}
