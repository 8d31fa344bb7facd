package infra

// Problems is problems.
var Problems = problems
