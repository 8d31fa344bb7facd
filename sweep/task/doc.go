// Package task is the vocabulary of a sweep: identities, states, what a master sends to a worker,
// and what comes back.
//
// Values of this package are written to queues and to the store, so their JSON form is versioned
// and only ever grows: a field may be added, none may change its meaning. Everything under sweep
// and the commands may import it.
package task
