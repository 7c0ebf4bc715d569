package source

import "github.com/jitinject/jitinject/jitdump"

// JavaName returns the name of a method of a record as functions have it. What others show
// of the record is then called like these.
func JavaName(m *jitdump.JavaMethod) string { return javaName(m) }
