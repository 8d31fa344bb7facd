package table

// Fields is a set of what a [Row] has beside its index: what a question looks at, so that nothing
// else needs to be read.
type Fields uint32

// The fields. A row's Argv follows from its parameters, host and slot.
const (
	FieldID Fields = 1 << iota // the id, the sweep and the definition
	FieldState
	FieldArgv
	FieldParameters
	FieldMetrics
	FieldAttempts
	FieldHost
	FieldSlot
	FieldGPUs
	FieldStarted
	FieldDuration
	FieldExitCode
	FieldClass // of the end, which is not a column: a parameter may have that name
	FieldReason
	FieldRevision
	FieldSteps // of the metrics, which are read, too

	AllFields Fields = 1<<iota - 1

	// fieldIndex is the index, which every row has; no question asks for it.
	fieldIndex Fields = 1 << 31
)

// Has reports whether any of the other fields is in the set.
func (f Fields) Has(other Fields) bool { return f&other != 0 }
