// Package remote runs commands on hosts, over ssh or on this machine, with one contract for both.
// It is for infra, nvdocker and the commands to import; it imports nothing of this project.
//
// # One connection
//
// A Dialer makes one connection per host and keeps it: commands are sessions on it. It means by a
// host what `ssh HOST` means: ~/.ssh/config, the agent, default keys, known_hosts. Hosts behind the
// same jump host share the connection to it.
//
// # Nothing waits for ever
//
// A handshake has a deadline from the first packet to the last. A connection on which nothing comes
// back is closed after three keepalives, and whatever waits on it then fails with a Lost error.
// Every call returns when its context ends, whether the other side answers or not.
package remote
