package remote

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"

	"golang.org/x/crypto/ssh"
)

// keyring holds the key files that were read, so that each passphrase is asked for once, however
// many hosts take the key.
type keyring struct {
	ask func(ctx context.Context, prompt string) (string, error)

	mu    sync.Mutex
	files map[string]*keyFile
}

// keyFile is a private key, or only its public half.
type keyFile struct {
	path string
	pub  ssh.PublicKey
	cert *ssh.Certificate // of the user, from PATH-cert.pub; may be nil
	half bool             // the private half is elsewhere: an agent may have it
	pem  []byte           // of a locked key

	mu     sync.Mutex // held while asking
	signer ssh.Signer // nil: locked, or elsewhere
	locked error      // why it stayed locked
}

// read reads a key file once.
func (k *keyring) read(path string) (*keyFile, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if f := k.files[path]; f != nil {
		return f, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	f := &keyFile{path: path}
	if err := f.parse(text); err != nil {
		return nil, err
	}
	if c, ok := readPublic(path + "-cert.pub").(*ssh.Certificate); ok {
		f.cert = c
	}
	k.files[path] = f
	return f, nil
}

func (f *keyFile) parse(text []byte) error {
	if pub, _, _, _, err := ssh.ParseAuthorizedKey(text); err == nil {
		f.pub, f.half = pub, true
		return nil
	}
	signer, err := ssh.ParsePrivateKey(text)
	var locked *ssh.PassphraseMissingError
	switch {
	case err == nil:
		f.signer, f.pub = signer, signer.PublicKey()
	case !errors.As(err, &locked):
		return fmt.Errorf("it is no private key (%w)", err)
	default:
		f.pem = text
		if f.pub = locked.PublicKey; f.pub == nil {
			f.pub = readPublic(f.path + ".pub")
		}
		if f.pub == nil {
			return fmt.Errorf("it is locked, in an old format, and %s.pub is missing: write that "+
				"with `ssh-keygen -y -f %s`", f.path, f.path)
		}
	}
	return nil
}

// publicKey says that a public key was named, and that no agent has its private key.
type publicKey struct{ path string }

func (e *publicKey) Error() string {
	return "key file " + e.path + ": it is a public key, and no ssh agent has its private key"
}

func (e *publicKey) remedy() string {
	if private, is := strings.CutSuffix(e.path, ".pub"); is {
		return "name the private key: -i " + private
	}
	return "name the private key, or add it to the agent (ssh-add)"
}

// readPublic gives the public key or certificate in a file, nil if there is none.
func readPublic(path string) ssh.PublicKey {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	pub, _, _, _, err := ssh.ParseAuthorizedKey(text)
	if err != nil {
		return nil
	}
	return pub
}

// errNoTerminal is why a key stays locked when there is nobody to ask.
var errNoTerminal = errors.New("there is no terminal to ask for its passphrase")

// unlock asks for the passphrase unless that was done. A wrong one is asked for again, twice.
func (k *keyring) unlock(ctx context.Context, f *keyFile) (ssh.Signer, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.signer != nil || f.locked != nil:
		return f.signer, f.locked
	case k.ask == nil:
		return nil, errNoTerminal
	}
	prompt := fmt.Sprintf("Passphrase of %s: ", f.path)
	for range 3 {
		words, err := k.ask(ctx, prompt)
		if err != nil {
			f.locked = fmt.Errorf("ask for its passphrase: %w", err)
			return nil, f.locked
		}
		if f.signer, err = ssh.ParsePrivateKeyWithPassphrase(f.pem, []byte(words)); err == nil {
			return f.signer, nil
		}
		prompt = fmt.Sprintf("That was wrong. Passphrase of %s: ", f.path)
	}
	f.locked = errors.New("its passphrase was wrong three times")
	return nil, f.locked
}

// defaultKeys are the key files that ssh offers when none is named, below the home folder.
var defaultKeys = []string{".ssh/id_ed25519", ".ssh/id_ecdsa", ".ssh/id_rsa", ".ssh/id_ed25519_sk",
	".ssh/id_ecdsa_sk"}

func missing(err error) bool { return errors.Is(err, fs.ErrNotExist) }
