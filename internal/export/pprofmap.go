package export

import (
	"path"
	"slices"
	"strings"

	pprof "github.com/google/pprof/profile"

	"github.com/jitinject/jitinject/internal/profile"
)

// mapping returns the mapping of an object, which is added if it is new. It is nil for "". The real
// mappings are unknown, so these have no addresses, and readers do not try to symbolize them.
func (b *pprofBuilder) mapping(object string) *pprof.Mapping {
	m := b.mappings[object]
	if m == nil && object != "" {
		m = &pprof.Mapping{ID: uint64(len(b.mappings) + 1), File: text(object), HasFunctions: true, HasFilenames: true, HasLineNumbers: true, HasInlineFrames: true}
		b.mappings[object] = m
		b.out.Mapping = append(b.out.Mapping, m)
	}
	return m
}

// maxComm is the most that the kernel keeps of a process's name.
const maxComm = 15

// mainObject returns the path of the program that was recorded: the file with the name of the
// busiest process, or else with that of a word of the command, or else the first file with native
// code. It returns "" if there is none.
func mainObject(p *profile.Profile) string {
	var natives []string
	seen := make(map[string]bool)
	for i := range p.Functions {
		if f := &p.Functions[i]; f.Kind == profile.Native && f.Object != "" && !strings.HasPrefix(f.Object, "[") && !seen[f.Object] {
			seen[f.Object] = true
			natives = append(natives, f.Object)
		}
	}
	names := make([]string, 0, 8)
	for _, s := range byProcess(p, divide(p)) {
		if name := p.Threads[s.thread].Process; name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
		if len(names) == cap(names) {
			break
		}
	}
	for word := range strings.FieldsSeq(p.Recording.Command) {
		names = append(names, path.Base(word))
	}
	for _, name := range names {
		for _, object := range natives {
			base := path.Base(object)
			if base == name || len(base) > maxComm && base[:maxComm] == name {
				return object
			}
		}
	}
	if len(natives) > 0 {
		return natives[0]
	}
	return ""
}
