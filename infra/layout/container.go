package layout

// Folders within containers.
const (
	RunAt       = "/run/mlframework"      // that of the master's Socket
	ReadAt      = "/run/mlframework-read" // that of its MonitorSocket
	ProgramAt   = "/mlframework/bin"
	RevisionsAt = "/mlframework/revisions"
	OutputsAt   = "/mlframework/outputs"
	StateAt     = "/mlframework/state" // what a worker or monitor keeps
	HomeAt      = "/mlframework/home"
	SecretsAt   = "/mlframework/secrets"
	AttemptsAt  = "/mlframework/attempts"  // files of secrets while attempts run
	GPULocksAt  = "/mlframework/gpu-locks" // the host's /dev/shm, with the locks of its GPUs
	StoreAt     = "/store"
)
