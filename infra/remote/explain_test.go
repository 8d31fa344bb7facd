package remote_test

import (
	"errors"
	"net"
	"os"
	"syscall"
	"testing"

	"mlframework/infra/remote"
)

// A host of the same LAN that is off is one without a route.
func TestNoRoute(t *testing.T) {
	t.Parallel()
	for no, want := range map[syscall.Errno]struct{ cause, remedy string }{
		syscall.EHOSTUNREACH: {"no route to gpu4:22", "the host may be off, or need a jump host"},
		syscall.ENETUNREACH: {"this machine has no route to the network of gpu4:22",
			"check the network, or whether it needs a jump host"},
		syscall.ETIMEDOUT: {"gpu4:22 did not answer",
			"the host may be off, or a firewall in between drops what is sent"},
	} {
		err := remote.Explain("gpu4", &net.OpError{Op: "dial", Err: os.NewSyscallError("connect",
			no)})
		e, ok := errors.AsType[*remote.Error](err)
		if !ok || e.Cause != want.cause || e.Remedy != want.remedy {
			t.Errorf("%v: %+v", no, err)
		}
	}
}
