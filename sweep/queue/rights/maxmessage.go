package rights

// MaxMessageBytes is the longest message that the broker takes, in bytes: it holds several before
// it knows what to do with them, and so does whoever reads. A batch has a definition, which is in a
// file of at most a MiB, and is divided where it is longer.
const MaxMessageBytes = 2 << 20
