package core

// Schema is the version of the stores of this program, of their tables and of what is in them as
// JSON: it counts up with each change that another program cannot read. infrainit compares it with
// the cluster's.
const Schema = 17
