package docker

import "io"

// Classify gives kind, words and port of what an engine said.
var Classify = classify

// Frames splits a stream of an engine.
func Frames(src io.Reader, aside io.Writer) io.Reader { return &frames{src: src, aside: aside} }

// ReadPull reads what the docker command prints while it pulls.
var ReadPull = readPull
