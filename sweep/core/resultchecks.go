package core

// ResultChecks is what a person should know about the results of a sweep, of the newest attempts of
// its tasks. Its JSON is that of the API, in which lists are empty, never null.
type ResultChecks struct {
	// tasks whose output was not kept in full, by host
	Unkept []Unkept `json:"unkept"`
	// what matched a metric and was no number, by metric, in the order of the tasks
	Unread []Unread `json:"unread"`
	// why metrics of files are missing, in the order of the tasks
	Unmeasured []Unmeasured `json:"unmeasured"`
	// where the objective takes the last value: tasks that had a better one before; nil: none
	Surpassed *Surpassed `json:"surpassed"`
}

// Unread is what matched a metric last in tasks of a sweep and was no number.
type Unread struct {
	Metric string `json:"metric"`
	Text   string `json:"text"`  // of the first
	Tasks  int64  `json:"tasks"` // in how many
	First  int64  `json:"first"` // the index of the first of them
}

// Unmeasured is why metrics of files are missing in tasks of a sweep.
type Unmeasured struct {
	Text  string `json:"text"`
	Tasks int64  `json:"tasks"` // of which it is said
	First int64  `json:"first"` // the index of the first of them
}

// Surpassed is tasks of a sweep that had a better value for its objective than the last, which
// counts as nobody chose another.
type Surpassed struct {
	Tasks int64  `json:"tasks"`
	First int64  `json:"first"` // the index of the first of them
	Best  string `json:"best"`  // of that one, a number as people read it
	Step  int64  `json:"step"`  // of Best
	Place string `json:"place"` // of Best: "step 20", or "value 2 of 3"
	Last  string `json:"last"`
}

// Unkept is tasks on one host whose output was not kept in full, other than for its ceiling.
type Unkept struct {
	Host  string `json:"host"`
	Tasks int64  `json:"tasks"`
	Error string `json:"error"` // of one of them: no space left on device
}
