// Package broker says what a cluster's RabbitMQ is started with: its certificates, its users and their rights, and its
// configuration, as the files that its container mounts.
//
// infra and its plan may import it. It is pure, but for the randomness that it is handed.
package broker

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"path"
	"time"
)

// Names that everything else agrees on.
const (
	// ServerName is the name in the broker's certificate. It is none of the network's, so that a certificate holds wherever
	// the broker is reached.
	ServerName = "broker.mlframework.internal"
	// Port is where the broker listens within its container, with TLS, and MetricsPort where it tells of itself without,
	// which is never published.
	Port, MetricsPort = 5671, 15692
	// Folder is where the container finds the files of Files.
	Folder = "/etc/mlframework"
	// Data is where the container keeps what must outlive it.
	Data = "/var/lib/rabbitmq"
)

// Users of the broker.
const (
	Master = "master"
	Worker = "worker"
)

// Secrets are what a cluster keeps for as long as it lives. They are made once, stay on the master's host with mode 0600, and
// are read again by whoever adds a worker. The zero value is none.
type Secrets struct {
	Authority Pair              `json:"authority"` // signs the certificates of the broker and of an exposed monitor
	Server    Pair              `json:"server"`
	Passwords map[string]string `json:"passwords"` // of each user
	Salt      []byte            `json:"salt"`      // of the hashes of the passwords, 4 bytes
}

// NewSecrets makes secrets that hold from a day before now, as the clocks of hosts may differ, for ten years.
func NewSecrets(random io.Reader, now time.Time) (Secrets, error) {
	s := Secrets{Passwords: map[string]string{}, Salt: make([]byte, 4)}
	if _, err := io.ReadFull(random, s.Salt); err != nil {
		return Secrets{}, fmt.Errorf("make the broker's secrets: %w", err)
	}
	for _, user := range []string{Master, Worker} {
		password := make([]byte, 24)
		if _, err := io.ReadFull(random, password); err != nil {
			return Secrets{}, fmt.Errorf("make the broker's secrets: %w", err)
		}
		s.Passwords[user] = hex.EncodeToString(password)
	}
	authority, server, err := certify(random, now.Add(-24*time.Hour), now.AddDate(10, 0, 0))
	if err != nil {
		return Secrets{}, fmt.Errorf("make the broker's certificates: %w", err)
	}
	s.Authority, s.Server = authority, server
	return s, nil
}

// Random is the source of secrets.
func Random() io.Reader { return rand.Reader }

// File is a file that a container finds in a folder of its host. Its mode is 0600: most hold a secret.
type File struct {
	Name string
	Data []byte
}

// Files are what the broker's container mounts at Folder.
func (s Secrets) Files() []File {
	return []File{
		{"ca.pem", s.Authority.Certificate},
		{"definitions.json", s.definitions()},
		{"enabled_plugins", []byte("[rabbitmq_prometheus].\n")},
		{"rabbitmq.conf", configuration()},
		{"server.key", s.Server.Key},
		{"server.pem", s.Server.Certificate},
	}
}

// Version is a hash of what a broker reads of Files when it starts, but for the secrets: whoever runs with another one is to be
// started anew.
func Version() string {
	sum := sha256.New()
	for _, f := range (Secrets{}).Files() {
		fmt.Fprintf(sum, "%s %d\n%s", f.Name, len(f.Data), f.Data)
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
}

// Client are the files with which a user logs in: "credentials" and "ca.pem", as sweepd takes them.
func (s Secrets) Client(user string) []File {
	return []File{
		{"ca.pem", s.Authority.Certificate},
		{"credentials", []byte(user + ":" + s.Passwords[user] + "\n")},
	}
}

// Names of the files of Certificate.
const (
	CertificateFile = "cert.pem"
	KeyFile         = "key.pem"
)

// Certificate are the files with which the monitor speaks TLS under names of its host. Whoever is to believe it without being
// asked trusts the cluster's authority, ca.pem.
func (s Secrets) Certificate(random io.Reader, now time.Time, names []string) ([]File, error) {
	pair, err := s.Authority.issue(random, names, now.Add(-24*time.Hour), now.AddDate(10, 0, 0))
	if err != nil {
		return nil, fmt.Errorf("make the monitor's certificate: %w", err)
	}
	return []File{{"ca.pem", s.Authority.Certificate}, {CertificateFile, pair.Certificate}, {KeyFile, pair.Key}}, nil
}

// Environment is what makes the server of the official image, and of those like it, read the files. None of it is secret.
func Environment() []string {
	return []string{
		"RABBITMQ_CONFIG_FILE=" + path.Join(Folder, "rabbitmq.conf"),
		"RABBITMQ_ENABLED_PLUGINS_FILE=" + path.Join(Folder, "enabled_plugins"),
		"RABBITMQ_NODENAME=mlframework@localhost", // fixed, so that its data is found again under another hostname
		"HOME=" + Data, // of the Erlang cookie
		// Erlang's schedulers do not spin while they wait for work: tasks on the same host have better use for the processors.
		"RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS=+sbwt none +sbwtdcpu none +sbwtdio none",
	}
}

// hash is a password as RabbitMQ keeps it: base64 of the salt and SHA-256(salt + password)
// (https://www.rabbitmq.com/docs/passwords#computing-password-hash).
func (s Secrets) hash(user string) string {
	return base64.StdEncoding.EncodeToString(append(s.Salt[:len(s.Salt):len(s.Salt)], digest(s.Salt, s.Passwords[user])...))
}
