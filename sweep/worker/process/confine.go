package process

// Confinement is what the programs of a Keeper cannot access, whatever the modes of files are. All
// paths are absolute.
//
// In addition, a confined program cannot trace, inspect or signal processes other than those it
// started, cannot set limits of any process but itself, cannot gain privileges by executing a
// program (no_new_privs), cannot mount, and cannot move processes between cgroups or end those of
// one. Devices and the network are not restricted.
type Confinement struct {
	// Hidden are files and folders whose content programs can neither read nor change. The names in
	// such a folder are readable.
	Hidden []string
	// ReadOnly are folders that programs can read and not change.
	ReadOnly []string
	// Writable are folders within those above that programs can use nevertheless. Spec.Own names
	// those of a single program.
	Writable []string
}
