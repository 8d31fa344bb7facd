// Package filesync brings a project's files to a host and the outputs of tasks back, by manifest.
//
// It is the client, and the words that both sides use; what the host does is package server. They
// speak HTTP over the connection to the host's agent. Whatever a file is called, it goes through no
// shell and no archive format, and every content is checked by its SHA-256 where it arrives.
//
// Package infra, commands and tests may import it. It knows neither ssh nor Docker, and of the
// project only package projects, so that a release here and a snapshot there are one format.
//
// # The root
//
// A root belongs to one cluster of one owner; its marker says to which. Nothing outside of it is
// read or written, and nothing in a folder that has content and no marker, or another's.
//
//	.mlframework-root     the marker
//	releases/REVISION/    read-only files of a project, as projects.Assembly makes them; workers get
//	                      this folder
//	current               a link to the release that was pushed last
//	manifests/REVISION    what the release was made of, and when it was last pushed (its time)
//	lock                  held while releases are made or removed; names its holder
//
// # Requests
//
//	PUT /releases/REVISION    the manifest, and behind it the contents that the answer says are missing
//	GET /releases/REVISION    the manifest, and each content once
//	GET /releases             the revisions that can be copied from here
//	DELETE /releases          those that nobody wants any more; answers with what was removed
//	POST /outputs             answers with a list of the outputs of a sweep's tasks
//	POST /outputs/files       answers with contents of those, from the offsets that are there already
//
// Lists of files are encoded as manifests of releases are, as names may be no UTF-8; everything
// else is JSON. A push of what is there costs one round trip, one with contents two and their time.
// Both ends are of one build, so there are no versions.
package filesync
