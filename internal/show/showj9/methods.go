package showj9

import (
	"github.com/jitinject/jitinject/internal/runtime/openj9/metadata"
	"github.com/jitinject/jitinject/jitdump"
)

// A method is what is known of a method besides its pointer.
type method struct {
	name, file string             // java.lang.String.charAt(I)C
	lines      []jitdump.JavaLine // of growing bytecode indexes
}

// methodsOf returns methods by their pointers. Of several at one address, the first counts.
func methodsOf(list []jitdump.JavaMethod) map[uint64]method {
	known := make(map[uint64]method, len(list))
	for i := range list {
		m := &list[i]
		if _, again := known[m.Method]; !again {
			known[m.Method] = method{metadata.JavaName(m), metadata.JavaFile(m), metadata.InOrder(m.Lines)}
		}
	}
	return known
}

// A methodTable has what is known of methods.
type methodTable struct {
	Methods []jitdump.JavaMethod `show:"methods"`
}
