package remote

import (
	"bytes"
	"os"

	"golang.org/x/crypto/ssh"
)

// checkRevoked refuses keys that a file of RevokedHostKeys lists, and, as ssh does, all keys where
// that cannot be read. Of a certificate its own key and its authority's count, too.
func (t *trust) checkRevoked(key ssh.PublicKey) error {
	keys := []ssh.PublicKey{key}
	if cert, is := key.(*ssh.Certificate); is {
		keys = append(keys, cert.Key, cert.SignatureKey)
	}
	for _, file := range t.p.revoked {
		text, err := os.ReadFile(file)
		if err != nil {
			return t.fault(HostRevoked, "the keys that RevokedHostKeys names cannot be read: "+
				clip(plain(err)), "make the file readable, or change ~/.ssh/config", err)
		}
		if bytes.HasPrefix(text, []byte("SSHKRL\n")) {
			return t.fault(HostRevoked, file+" of RevokedHostKeys is a list in OpenSSH's binary "+
				"form, which is not understood here", "list the public keys in it, one on a line",
				nil)
		}
		for len(text) > 0 {
			listed, _, _, rest, err := ssh.ParseAuthorizedKey(text)
			if err != nil { // no more keys
				break
			}
			text = rest
			for _, k := range keys {
				if bytes.Equal(k.Marshal(), listed.Marshal()) {
					return t.fault(HostRevoked, "its "+k.Type()+" key "+ssh.FingerprintSHA256(k)+
						" is revoked in "+file,
						"do not use this host until its owner has given it a new key", nil)
				}
			}
		}
	}
	return nil
}
