package infra

// Problems is problems.
var Problems = problems

// What runs on the master's host for the audit.
const (
	EnterJournal = enterJournal
	ReadJournal  = readJournal
)

// JournalLines reads what ReadJournal printed.
var JournalLines = journalLines

// MakeFolders makes the cluster's folder, and the others that it is told of.
const MakeFolders = makeFolders
