package profile

import (
	"path"
	"strconv"
	"strings"

	"github.com/jitinject/jitinject/internal/tier"
)

// describe sets what the symbol says about a function.
func (f *Function) describe() {
	f.Name = f.Symbol
	switch f.Kind {
	case Unknown:
		if f.Object != "" && f.Object != unknownSymbol {
			f.Name = "[" + strings.Trim(f.Object[strings.LastIndexByte(f.Object, '/')+1:], "[]") + "]"
		}
	case JIT:
		n := tier.Read(f.Symbol)
		f.Name, f.Tier, f.File, f.Line = n.Text, n.Tier, n.File, n.Line
		if f.Name == tier.Anonymous { // and not "(anonymous namespace)::f" of C++
			f.nameAnonymous()
		}
	}
}

// setSource sets where a function is declared. It overrides what the symbol says: a source map may
// have led to the original.
func (f *Function) setSource(file string, line int) {
	if file == "" {
		return
	}
	if f.File != file || line > 0 {
		f.File, f.Line = file, line
	}
	f.nameAnonymous()
}

// nameAnonymous names a function without a name by its place: "(anonymous app.js:3)". All others of the
// program would have the same name.
func (f *Function) nameAnonymous() {
	if f.Name == "" || strings.HasPrefix(f.Name, "(anonymous ") {
		f.Name = tier.Anonymous
	}
	if f.Name == tier.Anonymous && f.File != "" && f.Line > 0 {
		f.Name = "(anonymous " + path.Base(f.File) + ":" + strconv.Itoa(f.Line) + ")"
	}
}
