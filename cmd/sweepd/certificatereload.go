package main

import (
	"crypto/tls"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"sync"
)

// certificate is one that is read again when its files have changed, so that a renewed one is
// served without a restart.
type certificate struct {
	cert, key string // files
	log       *slog.Logger

	mu    sync.Mutex
	pair  tls.Certificate
	files [2]fs.FileInfo // of pair, when it was read
	said  string         // why it could not be read again; "": it could
}

// readCertificate reads a certificate for the first time.
func readCertificate(cert, key string, log *slog.Logger) (*certificate, error) {
	c := &certificate{cert: cert, key: key, log: log}
	if err := c.read(); err != nil {
		return nil, fmt.Errorf("read %s and %s: %w", cert, key, err)
	}
	return c, nil
}

// read reads the files if they have changed.
func (c *certificate) read() error {
	var files [2]fs.FileInfo
	same := true
	for i, name := range []string{c.cert, c.key} {
		info, err := os.Stat(name)
		if err != nil {
			return err
		}
		old := c.files[i]
		same = same && old != nil && os.SameFile(old, info) && old.Size() == info.Size() &&
			old.ModTime().Equal(info.ModTime())
		files[i] = info
	}
	if same {
		return nil
	}
	pair, err := tls.LoadX509KeyPair(c.cert, c.key)
	if err != nil {
		return err
	}
	c.pair, c.files = pair, files
	return nil
}

// get returns the newest certificate; that of before where its files cannot be read, or where only
// one of them is new yet. It is safe for concurrent use.
func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	said := ""
	if err := c.read(); err != nil {
		said = err.Error()
	}
	if said != "" && said != c.said {
		c.log.Warn("the certificate cannot be read again; the one of before stays in use",
			"cert", c.cert, "key", c.key, "error", said)
	}
	c.said = said
	pair := c.pair
	return &pair, nil
}
