package docker

import (
	"context"
	"slices"
	"strings"
)

// Digest is that of the image in its registry ("sha256:..."), of the repository of ref where it is
// in several; "" where the host does not know it.
func (i Image) Digest(ref string) (digest string) {
	for _, d := range i.Digests {
		name, known, _ := strings.Cut(d, "@")
		if digest == "" || name == repository(ref) {
			digest = known
		}
	}
	return digest
}

// Has reports whether the image has a digest in the repository of ref. It has several there when the
// same image was published again.
func (i Image) Has(ref, digest string) bool {
	return slices.Contains(i.Digests, AtDigest(ref, digest)) || i.Digest(ref) == digest
}

// repository is a reference without tag and digest.
func repository(ref string) string {
	ref, _, _ = strings.Cut(ref, "@")
	if colon := strings.LastIndex(ref, ":"); colon > strings.LastIndex(ref, "/") {
		return ref[:colon]
	}
	return ref
}

// AtDigest is the reference of one image of the repository of ref: "python@sha256:...".
func AtDigest(ref, digest string) string { return repository(ref) + "@" + digest }

// DigestOf is the digest that is part of a reference; "" is none.
func DigestOf(ref string) string {
	_, digest, _ := strings.Cut(ref, "@")
	return digest
}

// RegistryDigest asks the registry of a reference, through the engine, for the digest of the image
// that its tag points to ("sha256:..."). The engine has no login. Faults: NotFound, Unauthorized.
func (e *Engine) RegistryDigest(ctx context.Context, ref string) (string, error) {
	answer, err := e.api.DistributionInspect(ctx, ref, "")
	if err != nil {
		return "", e.fail("ask the registry for image "+ref, err)
	}
	return answer.Descriptor.Digest.String(), nil
}
