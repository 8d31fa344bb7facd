package master

// MostRows is how many rows a Watcher that is slow gets at most at once. An Update with fewer has left none out.
const MostRows = mostTasks
