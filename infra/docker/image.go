package docker

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/docker/docker/api/types/image"
)

// Image is an image as it was found on a host.
type Image struct {
	// ID is the host's own name for it: one of Docker's two stores has the digest of the
	// configuration there, the other that of a manifest.
	ID   string
	Tags []string // "name:tag", sorted
	// "name@sha256:...", sorted; in the older image store only of images that came from a registry
	// or went to one
	Digests []string
	Labels  map[string]string
	Arch    string // as Go has it: "amd64", "arm64"
}

// FindImage gives an image of the host by reference, digest or id. NotFound when it is not there.
func (e *Engine) FindImage(ctx context.Context, ref string) (Image, error) {
	raw, err := e.api.ImageInspect(ctx, ref)
	if err != nil {
		return Image{}, e.fail("look at image "+ref, err)
	}
	i := Image{ID: raw.ID, Tags: raw.RepoTags, Digests: raw.RepoDigests, Arch: raw.Architecture}
	if raw.Config != nil {
		i.Labels = raw.Config.Labels
	}
	slices.Sort(i.Tags)
	slices.Sort(i.Digests)
	return i, nil
}

// TagImage gives an image of the host one more name, which another image loses.
func (e *Engine) TagImage(ctx context.Context, ref, tag string) error {
	return e.fail("tag image "+ref+" as "+tag, e.api.ImageTag(ctx, ref, tag))
}

// ListImages gives the images that have all the labels, sorted by their first tag. An empty value
// stands for any.
func (e *Engine) ListImages(ctx context.Context, labels map[string]string) ([]Image, error) {
	brief, err := e.api.ImageList(ctx, image.ListOptions{Filters: labelled(labels)})
	if err != nil {
		return nil, e.fail("list images", err)
	}
	var all []Image
	for _, b := range brief {
		i, err := e.FindImage(ctx, b.ID)
		switch {
		case KindOf(err) == NotFound:
			continue // it went meanwhile
		case err != nil:
			return nil, err
		}
		all = append(all, i)
	}
	slices.SortFunc(all, func(a, b Image) int {
		return strings.Compare(strings.Join(a.Tags, " "), strings.Join(b.Tags, " "))
	})
	return all, nil
}

// RemoveImage takes a name from an image, and the image itself away with its last one. Conflict
// while a container uses it, running or not.
func (e *Engine) RemoveImage(ctx context.Context, ref string) error {
	_, err := e.api.ImageRemove(ctx, ref, image.RemoveOptions{PruneChildren: true})
	return e.fail("remove image "+ref, err)
}

// errEmptyRef is what several calls of the API would take for "all".
var errEmptyRef = errors.New("the image has no name")
