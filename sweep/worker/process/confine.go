package process

// Confinement is what the programs of a Keeper cannot reach, whatever the modes of files say. All
// paths are absolute.
//
// Beside it a confined program cannot trace, look into or signal processes other than those it
// started, cannot set limits of any process but itself, cannot gain privileges by running a program
// (no_new_privs), and cannot mount. Devices and the network are as before.
type Confinement struct {
	// Hidden are files and folders whose content programs can neither read nor change. The names in
	// such a folder can be read.
	Hidden []string
	// ReadOnly are folders that programs can read and not change.
	ReadOnly []string
	// Writable are folders, in those above, that programs can use all the same. Spec.Own names
	// those of one program.
	Writable []string
}
