package metadata

import (
	"github.com/jitinject/jitinject/jitdump"
)

// What those need who show records and captures, so that methods and lines are the same there.

// JavaName returns the name of a method of a record as functions have it.
func JavaName(m *jitdump.JavaMethod) string { return methodName(m, MaxOriginName) }

// JavaFile returns the name of a method's file as functions have it.
func JavaFile(m *jitdump.JavaMethod) string { return methodFile(m, MaxOriginName) }
