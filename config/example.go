package config

import _ "embed" // the example is part of the program

// Example is a config.yml with every key and its explanation: the schema of the file.
//
//go:embed example.yml
var Example string
