package infra

// Problems is problems.
var Problems = problems

// What runs on the master's host for the audit.
const (
	EnterJournal = enterJournal
	ReadJournal  = readJournal
)

// Journals are its files, and JournalLines reads what ReadJournal printed.
var (
	Journals     = journals
	JournalLines = journalLines
)

// MakeFolders makes the cluster's folder, and the others that it is told of.
const MakeFolders = makeFolders
