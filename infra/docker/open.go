package docker

import (
	"context"
	"fmt"

	"github.com/docker/docker/api/types/versions"
)

// Open reaches the engine of a host and agrees with it on a version of the API.
//
// Errors are Faults. TooOld: it answers, but speaks nothing that this package does. Gone: it cannot
// be reached; the text is that of the host's Dial.
func Open(ctx context.Context, host Host) (*Engine, error) {
	e := &Engine{on: host}
	err := e.greet(ctx)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return nil, e.fail("reach docker", err)
	}
	return e, nil
}

// greet makes the client and asks for the engine's version.
func (e *Engine) greet(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	if e.api, err = connect(e.on); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = e.api.Close()
		}
	}()
	pong, err := e.api.Ping(ctx)
	if err != nil {
		return err
	}
	if pong.APIVersion == "" || versions.LessThan(pong.APIVersion, minAPI) {
		return &Fault{Kind: TooOld, Op: "reach docker", Host: e.on.Name, Detail: fmt.Sprintf(
			"the engine speaks API version %q; mlframework needs %s, which Docker 19.03 brought: "+
				"upgrade Docker there", pong.APIVersion, minAPI)}
	}
	e.api.NegotiateAPIVersionPing(pong)
	return nil
}
