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
