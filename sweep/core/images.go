package core

import (
	"maps"
	"slices"
	"strings"
)

// Images are the images in whose containers attempts of a sweep ran, each with the names of the
// workers, sorted. An image is "python:3.12-slim@sha256:...": the name that it was asked for by,
// and what it was. A sweep whose workers run in no container has none.
type Images map[string][]string

// maxImages is how many images a worker adds to a sweep's record: it changes its own with its
// container only.
const maxImages = 32

// RanIn returns the record of a sweep of which an attempt started on a worker in an image. It
// returns false if the record has that already, or the worker has named too many.
func (r Record) RanIn(image, worker string) (Record, bool) {
	named := 0
	for have, workers := range r.Images {
		if slices.Contains(workers, worker) {
			if named++; have == image || named == maxImages {
				return r, false
			}
		}
	}
	images := maps.Clone(r.Images) // others may still read the record as it was
	if images == nil {
		images = Images{}
	}
	images[image] = append(slices.Clone(images[image]), worker)
	slices.Sort(images[image])
	r.Images = images
	return r, true
}

// Names lists the images in order.
func (i Images) Names() []string { return slices.Sorted(maps.Keys(i)) }

// keyed returns what stands for an image in keys of tasks: its digest or, if it is not known, its
// name.
func keyed(image string) string {
	name, digest, known := strings.Cut(image, "@")
	if known {
		return digest
	}
	return name
}

// Keyed are the images as they stand in keys of tasks that ran in one of them. Without an image it
// is "" alone, for what runs in no container.
func (i Images) Keyed() []string {
	if len(i) == 0 {
		return []string{""}
	}
	var all []string
	for image := range i {
		all = append(all, keyed(image))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// KeyedOn is the image as it stands in keys of the tasks that a worker ran; false when it ran the
// sweep in several images, or it is not known in which.
func (r Record) KeyedOn(worker string) (image string, known bool) {
	if len(r.Images) == 0 {
		return "", true
	}
	for name, workers := range r.Images {
		switch {
		case !slices.Contains(workers, worker):
		case known && image != keyed(name):
			return "", false
		default:
			image, known = keyed(name), true
		}
	}
	return image, known
}
