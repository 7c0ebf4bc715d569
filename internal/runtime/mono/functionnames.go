package mono

import (
	"bytes"
	"fmt"

	"github.com/jitinject/jitinject/internal/format/monolog"
)

// Function names in Mono's logs. They have the form that Mono uses in stack traces and in the map
// of --jitmap: Namespace.Class:Method (parameters).

// functionNames stores names in large pieces of memory.
type functionNames struct {
	free    []byte
	kept    int // total length of names, in bytes
	helpers map[string][]byte
}

// namePiece is the size of such a piece, in bytes.
const namePiece = 64 << 10

// keep returns a copy of a name, without bytes that a symbol cannot have. An empty name becomes
// noName.
func (n *functionNames) keep(name []byte) []byte {
	if i := bytes.IndexByte(name, 0); i >= 0 {
		name = name[:i]
	}
	if n.kept += len(name); n.kept > maxNames {
		name = nil
	}
	if len(name) == 0 {
		return noName
	}
	if len(name) > len(n.free) {
		if len(name) > namePiece/4 {
			return bytes.Clone(name)
		}
		n.free = make([]byte, namePiece)
	}
	kept := n.free[:len(name):len(name)]
	copy(kept, name)
	n.free = n.free[len(name):]
	return kept
}

// maxNames bounds the total length of a log's names, in bytes.
const maxNames = 512 << 20

var noName = []byte("(unnamed)")

// maxHelpers bounds the number of helper names: Mono has a handful.
const maxHelpers = 1000

// helper returns the name of code that Mono made for itself. It resembles Mono's names of wrappers,
// (wrapper runtime-invoke) ....
func (n *functionNames) helper(e *monolog.Event) []byte {
	text := helperName(e)
	if name, ok := n.helpers[text]; ok {
		return name
	}
	name := n.keep([]byte(text))
	if n.helpers == nil {
		n.helpers = make(map[string][]byte)
	}
	if len(n.helpers) < maxHelpers {
		n.helpers[text] = name
	}
	return name
}

// helperName returns the name of a helper, from its kind.
func helperName(e *monolog.Event) string {
	switch e.Helper {
	case monolog.HelperMethodTrampoline:
		return "(trampoline method)"
	case monolog.HelperUnboxTrampoline:
		return "(trampoline unbox)"
	case monolog.HelperIMTTrampoline:
		return "(trampoline imt)"
	case monolog.HelperGenericsTrampoline:
		return "(trampoline generics)"
	case monolog.HelperSpecificTrampoline:
		if len(e.Name) == 0 {
			return "(trampoline specific)"
		}
		return fmt.Sprintf("(trampoline %s)", e.Name)
	case monolog.HelperHelper:
		return "(helper)"
	case monolog.HelperMonitor:
		return "(helper monitor)"
	case monolog.HelperDelegateInvoke:
		return "(helper delegate invoke)"
	case monolog.HelperExceptionHandling:
		return "(helper exception handling)"
	}
	return "(helper unknown)"
}

// ShortName returns a method's name without its parameters. The kind of a wrapper stays.
func ShortName(name []byte) []byte {
	head, rest := 0, name
	if bytes.HasPrefix(name, []byte("(wrapper ")) {
		if i := bytes.Index(name, []byte(") ")); i > 0 {
			head, rest = i+2, name[i+2:]
		}
	}
	if i := bytes.Index(rest, []byte(" (")); i > 0 && rest[len(rest)-1] == ')' {
		return name[:head+i]
	}
	return name
}
