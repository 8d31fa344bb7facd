package remote_test

import (
	"testing"

	"golang.org/x/crypto/ssh"

	"mlframework/infra/remote"
)

// Keys that RevokedHostKeys lists are refused, whatever known_hosts and the policy say.
func TestRevokedHostKeys(t *testing.T) {
	t.Parallel()
	s, h := startSSHD(t), newHome(t)
	mine := h.key(t, "id_ed25519", "")
	s.admit(t, mine)
	write(t, h.path(".ssh/config"), "Host *\nRevokedHostKeys ~/.ssh/revoked\n")
	o, to := h.options(), remote.Target{Name: s.name()}
	o.HostKeys = remote.No
	refused(t, o, to, remote.HostRevoked, "RevokedHostKeys", "make the file readable")
	listed := h.path(".ssh/revoked")
	write(t, listed, "# not the host's\n"+string(ssh.MarshalAuthorizedKey(mine)))
	connect(t, o, to)
	write(t, listed, "# lost\n"+s.public(t, "ecdsa")+"\n\n"+s.public(t, "ed25519")+"\n")
	refused(t, o, to, remote.HostRevoked, "is revoked in "+listed)
	write(t, listed, "SSHKRL\n\x00\x00")
	refused(t, o, to, remote.HostRevoked, "list the public keys")
}
