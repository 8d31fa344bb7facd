package infra

import (
	"context"
	"fmt"
	"sync"
	"time"

	"mlframework/infra/layout"
	"mlframework/infra/plan"
)

// registryTime bounds the question to registries. One that is slower decides nothing: the first
// host that pulls the image does.
const registryTime = 5 * time.Second

// askForImages finds out for which images references stand that nobody has decided yet.
func (u *up) askForImages(ctx context.Context) {
	untold := plan.Untold(u.request.Cluster, u.found(), u.old)
	told := map[string]layout.RecordImage{}
	var mu sync.Mutex
	var all sync.WaitGroup
	for ref, hosts := range untold {
		all.Go(func() {
			image, err := u.whatIs(ctx, ref, hosts)
			mu.Lock()
			defer mu.Unlock()
			if image.Ref != "" {
				told[ref] = image
			} else if u.request.Pull {
				u.o.Report.Warn("", fmt.Sprintf("no registry tells what %s is now, and this "+
					"machine does not have it: the cluster keeps the image that it has (%v); "+
					"where a login is needed, `docker pull %s` here first", ref, err, ref))
			}
		})
	}
	all.Wait()
	u.request.Told = told
}

// whatIs asks the registry through the hosts that need an image, else looks at this machine's. The
// zero value is no answer, and the error why the registry gave none.
func (u *up) whatIs(ctx context.Context, ref string, hosts []string) (told layout.RecordImage,
	err error) {
	digest, err := u.registry(ctx, ref, hosts)
	if digest != "" {
		return layout.RecordImage{Ref: ref, Digest: digest}, nil
	}
	if here, wrong := u.here(ctx); wrong == nil {
		if i, wrong := here.FindImage(ctx, ref); wrong == nil {
			return plan.WithImage(layout.RecordImage{Ref: ref}, i, i.Arch), nil
		}
	}
	return told, err
}

// registry returns the first answer that a host gets.
func (u *up) registry(ctx context.Context, ref string, hosts []string) (digest string, err error) {
	ctx, cancel := context.WithTimeout(ctx, registryTime)
	defer cancel()
	type answer struct {
		digest string
		err    error
	}
	answers := make(chan answer)
	asked := 0
	for _, name := range hosts {
		if m, there := u.connected[name]; there {
			asked++
			go func() {
				d, err := m.engine.RegistryDigest(ctx, ref)
				answers <- answer{d, err}
			}()
		}
	}
	for range asked {
		a := <-answers
		if a.err == nil && digest == "" {
			digest = a.digest
			cancel() // the others are asked no more
		}
		if err == nil {
			err = a.err
		}
	}
	return digest, err
}
