// Package filesync brings a project's files to a host and the outputs of tasks back, by manifest.
//
// Both ends are this package. On the host the agent calls Serve with the two bodies of a request;
// the laptop talks to it with a Client. Whatever a file is called, it goes through no shell and no
// archive format, and every content is checked by its SHA-256 where it arrives.
//
// Package infra, commands and tests may import it. It knows neither ssh nor Docker, and of the project only package
// projects, so that a release here and a snapshot there are one format.
//
// # The root
//
// A root belongs to one cluster of one owner; its marker says to which. Nothing outside of it is read or written, and
// nothing in a folder that has content and no marker, or another's.
//
//	.mlframework-root     the marker
//	releases/REVISION/    read-only files of a project, as projects.Assembly makes them; workers get this folder
//	current               a link to the release that was pushed last
//	manifests/REVISION    what the release was made of, and when it was last pushed (its time)
//	lock                  held while releases are made or removed; names its holder
//
// # The wire
//
// Both send frames: a letter, the length in four bytes with the highest first, and at most 1 MiB.
// The client says whose it is, and makes its requests, one after the other: a push of what is
// there already costs one round trip; one with contents costs two and the time of the contents.
// Both ends are of one build, so there are no versions.
//
// A release that another host has comes as one stream, from SendRelease to TakeRelease.
package filesync
