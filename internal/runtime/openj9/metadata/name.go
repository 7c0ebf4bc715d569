package metadata

import (
	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/jitdump"
)

// Names for the display of records and captures, the same as in functions.

// JavaName returns the name of a record's method, as in functions.
func JavaName(m *jitdump.JavaMethod) string { return methodName(m, jitcode.MaxOriginName) }

// JavaFile returns the name of a method's file, as in functions.
func JavaFile(m *jitdump.JavaMethod) string { return methodFile(m, jitcode.MaxOriginName) }
