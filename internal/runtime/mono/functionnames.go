package mono

import (
	"bytes"
	"fmt"

	"github.com/jitinject/jitinject/internal/format/monolog"
)

// Function names in Mono's logs. They have the form that Mono uses in stack traces and in the map
// of --jitmap: Namespace.Class:Method (parameters).

// functionNames bounds the names of a log.
type functionNames struct {
	kept int // total length of names, in bytes
}

// keep returns a copy of a name, without bytes that a symbol cannot have. An empty name becomes
// noName.
func (n *functionNames) keep(name []byte) []byte {
	name, _, _ = bytes.Cut(name, []byte{0})
	if n.kept += len(name); n.kept > maxNames || len(name) == 0 {
		return noName
	}
	return bytes.Clone(name)
}

// maxNames bounds the total length of a log's names, in bytes.
const maxNames = 512 << 20

var noName = []byte("(unnamed)")

// helperName returns the name of code that Mono made for itself, from its kind. It resembles Mono's names
// of wrappers, (wrapper runtime-invoke) ....
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
