package checks

import (
	"errors"
	"fmt"
	"strings"

	"github.com/jitinject/jitinject/internal/formats"
	"github.com/jitinject/jitinject/internal/runtime/jitdump"
	"github.com/jitinject/jitinject/internal/runtime/mono"
	"github.com/jitinject/jitinject/internal/runtime/openj9"
	"github.com/jitinject/jitinject/internal/runtime/perfmap"
	"github.com/jitinject/jitinject/internal/runtime/v8"
	"github.com/jitinject/jitinject/internal/runtime/xray"
	"github.com/jitinject/jitinject/internal/safefile/sys"
	"github.com/jitinject/jitinject/internal/verify"
	"github.com/jitinject/jitinject/internal/verify/checkdump"
	"github.com/jitinject/jitinject/internal/verify/checkgdbjit"
	"github.com/jitinject/jitinject/internal/verify/checkmap"
	"github.com/jitinject/jitinject/internal/verify/checkobject"
	"github.com/jitinject/jitinject/internal/verify/checkrecording"
)

// all are the formats that are checked, in the order of their rules, and kinds what the registry calls them.
var (
	all   = []verify.Format{checkdump.Format, checkmap.Format, checkrecording.Format, checkgdbjit.Format, checkobject.Format}
	kinds = []string{jitdump.Kind, perfmap.Kind, formats.Recording, formats.Core, formats.ELF}
)

// readers are the programs that show files of the other kinds, which only a runtime could mend.
var readers = map[string]string{
	mono.Kind:   "jitinject dump and mprof-report",
	xray.Kind:   "jitinject dump and llvm-xray",
	openj9.Kind: "jitinject dump",
	v8.Kind:     "jitinject dump",
}

// Verifier returns a checker for files of all formats: side files, recordings and ELF files.
func Verifier() *verify.Verifier { return verify.New(all, formatOf) }

// formatOf returns the format of a file.
func formatOf(path string) (*verify.Format, error) {
	f, size, err := verify.OpenSized(path) // refuses devices
	if err != nil {
		return nil, err
	}
	f.Close()
	kind := formats.Identify(path)
	st, err := sys.Stat(path)
	isDir := err == nil && st.IsDir()
	if isDir {
		var ok bool
		if kind, ok = formats.IsDirectory(path); !ok {
			kind = formats.Recording // of perf record --threads
		}
	}
	for i := range all {
		if kinds[i] == kind || kind == formats.Unknown && all[i].HasName != nil && all[i].HasName(path) {
			return &all[i], nil
		}
	}
	if programs, ok := readers[kind]; ok {
		return nil, &verify.UncheckedError{Name: formats.Name(kind), Readers: programs, IsDir: isDir}
	}
	if err := formats.Unidentified(path); err != nil {
		return nil, err
	}
	if size == 0 {
		return nil, errors.New("it is empty")
	}
	var names []string
	for i := range all {
		names = append(names, all[i].Name)
	}
	return nil, fmt.Errorf("it is neither %s", strings.Join(names, " nor "))
}
