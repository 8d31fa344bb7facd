// Package broker says what a cluster's RabbitMQ is started with: its certificates, its users and
// their rights, and its configuration, as the files that its container mounts.
//
// infra and its plan may import it. It is pure, but for the randomness that it is handed.
package broker

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"time"
)

// Names that everything else agrees on.
const (
	// ServerName is the name in the broker's certificate. It is none of the network's, so that a
	// certificate holds wherever the broker is reached.
	ServerName = "broker.mlframework.internal"
	// Port is where the broker listens within its container, with TLS, and MetricsPort where it
	// tells of itself without, which is never published.
	Port, MetricsPort = 5671, 15692
	// DefinitionsFile is the file in Folder with users, rights and policies.
	DefinitionsFile = "definitions.json"
	// Folder is where the container finds the files of Files.
	Folder = "/etc/mlframework"
	// Data is where the container keeps what must outlive it.
	Data = "/var/lib/rabbitmq"
)

// Secrets are what a cluster keeps for as long as it lives. They are made once, stay on the
// master's host with mode 0600, and are read again by whoever adds a worker. The zero value is
// none.
type Secrets struct {
	Authority Pair              `json:"authority"` // signs the certificate of the broker
	Server    Pair              `json:"server"`
	Passwords map[string]string `json:"passwords"` // of each user
	Salt      []byte            `json:"salt"`      // of the hashes of the passwords, 4 bytes
	// Pending says that the broker may have other users than these, or not yet these rights of
	// theirs.
	Pending bool `json:"pending,omitempty"`
	// Cookie lets rabbitmqctl speak to the broker within its container.
	Cookie string `json:"cookie"`
	// Previous are the certificates of authorities before this one, as PEM. Clients trust them,
	// too, until a rotation is finished. Empty: there is no rotation to finish.
	Previous []byte `json:"previous,omitempty"`
}

// NewSecrets makes secrets that hold from now on. They have the master's user; WithUsers adds those
// of workers.
func NewSecrets(random io.Reader, now time.Time) (Secrets, error) {
	s, cookie := Secrets{Salt: make([]byte, 4)}, make([]byte, 32)
	for _, part := range [][]byte{s.Salt, cookie} {
		if _, err := io.ReadFull(random, part); err != nil {
			return Secrets{}, fmt.Errorf("make the broker's secrets: %w", err)
		}
	}
	s.Cookie = hex.EncodeToString(cookie)
	s, err := s.WithUsers(random, []string{Master})
	if err != nil {
		return Secrets{}, err
	}
	if s.Authority, err = newAuthority(random, now); err != nil {
		return Secrets{}, fmt.Errorf("make the broker's authority: %w", err)
	}
	return s.Renewed(random, now)
}

// ParseSecrets reads secrets as they are kept, as JSON.
func ParseSecrets(text []byte) (s Secrets, err error) {
	if err := json.Unmarshal(text, &s); err != nil {
		return Secrets{}, err
	}
	if len(s.Salt) != 4 || s.Passwords[Master] == "" {
		return Secrets{}, errors.New("the broker's users are missing in it")
	}
	return s, nil
}

// File is a file that a container finds in a folder of its host. Its mode is 0600: most hold a
// secret.
type File struct {
	Name string
	Data []byte
}

// Files are what the broker's container mounts at Folder.
func (s Secrets) Files() []File {
	return []File{
		{".erlang.cookie", []byte(s.Cookie)},
		{"ca.pem", s.Authority.Certificate},
		{DefinitionsFile, s.definitions()},
		{"enabled_plugins", []byte("[rabbitmq_prometheus].\n")},
		{"rabbitmq.conf", configuration()},
		{"server.key", s.Server.Key},
		{"server.pem", s.Server.Certificate},
	}
}

// Version is a hash of the broker's configuration, without secrets and worker count. If it changes,
// the broker is restarted.
func Version() string {
	sum := sha256.New()
	example := Secrets{Salt: make([]byte, 4), Passwords: map[string]string{Master: "",
		WorkerUser("w"): ""}}
	for _, f := range example.Files() {
		fmt.Fprintf(sum, "%s %d\n%s", f.Name, len(f.Data), f.Data)
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
}

// Client are the files with which a user logs in: "credentials" and "ca.pem", as sweepd takes them.
func (s Secrets) Client(user string) ([]File, error) {
	if s.Passwords[user] == "" {
		return nil, fmt.Errorf("the broker has no user %s", user)
	}
	return []File{
		{"ca.pem", slices.Concat(s.Authority.Certificate, s.Previous)},
		{"credentials", []byte(user + ":" + s.Passwords[user] + "\n")},
	}, nil
}

// Names of the files of Certificate.
const (
	CertificateFile = "cert.pem"
	KeyFile         = "key.pem"
)

// Certificate are the files with which the monitor speaks TLS under names of its host, and on the
// host itself. The certificate speaks for these names alone, so that who has a browser trust it
// trusts nobody else.
func Certificate(random io.Reader, now time.Time, names []string) ([]File, error) {
	names = append([]string{"localhost", "127.0.0.1"}, names...)
	pair, err := selfSigned(random, names, now.Add(-clockSkew), now.Add(certificateLife))
	if err != nil {
		return nil, fmt.Errorf("make the monitor's certificate: %w", err)
	}
	return []File{{CertificateFile, pair.Certificate}, {KeyFile, pair.Key}}, nil
}

// loopback has Erlang's distribution listen on 127.0.0.1 only.
const loopback = "-kernel inet_dist_use_interface {127,0,0,1}"

// start begins the server with its metrics on the address that a name has in one of the container's
// networks. Nothing in rabbitmq.conf can name it: Docker gives addresses when the container starts.
const start = `at=$(getent hosts "$1" | cut -d' ' -f1 | tr . ,)
shift
export RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS="$RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS -rabbitmq_prometheus tcp_config [{ip,{${at:-127,0,0,1}}},{port,$1}]"
shift
exec docker-entrypoint.sh "$@"`

// Command is what the container of the official image, and of those like it, runs. Metrics, which
// need no login, are served only in the network in which the container has the given name.
func Command(metrics string) (entrypoint, command []string) {
	return []string{"sh", "-c", start, "sh", metrics, strconv.Itoa(MetricsPort)},
		[]string{"rabbitmq-server"}
}

// Environment is what makes the server of the official image, and of those like it, read the files.
// None of it is secret.
func Environment() []string {
	return []string{
		"RABBITMQ_CONFIG_FILE=" + path.Join(Folder, "rabbitmq.conf"),
		"RABBITMQ_ENABLED_PLUGINS_FILE=" + path.Join(Folder, "enabled_plugins"),
		// fixed, so that its data is found again under another hostname
		"RABBITMQ_NODENAME=mlframework@localhost",
		"HOME=" + Folder, // of the Erlang cookie
		// Erlang's own ports are for rabbitmqctl in the same container.
		"ERL_EPMD_ADDRESS=127.0.0.1",
		"RABBITMQ_CTL_ERL_ARGS=" + loopback,
		// Erlang's schedulers do not spin while they wait for work: tasks on the same host have
		// better use for the processors.
		"RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS=+sbwt none +sbwtdcpu none +sbwtdio none " + loopback,
	}
}
