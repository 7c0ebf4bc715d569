package known

import (
	"io"
	"path"
	"runtime/debug"
	"strings"

	"github.com/jitinject/jitinject/internal/format/elffile"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/safefile"
	"github.com/jitinject/jitinject/internal/wire"
)

// inGo are runtimes that are libraries of Go, by the paths of their modules. Each has only a note.
var inGo = map[string]Runtime{
	"github.com/tetratelabs/wazero":           {note: "go build -tags perfmap makes wazero write /tmp/perf-PID.map: names, without lines and code"},
	"github.com/bytecodealliance/wasmtime-go": {note: "config.SetProfiler(wasmtime.ProfilingStrategyJitdump) makes wasmtime write jit-PID.dump into the working directory; with config.SetDebugInfo(true), jitinject --live PID reads lines while it runs"},
}

// InGo returns the runtime that is a library in the process's program, or nil: the files of Go programs list
// their modules.
func InGo(p *recording.Process) *Runtime {
	for _, name := range filesOf(p, 4) {
		if path.IsAbs(name) && !strings.Contains(path.Base(name), ".so") {
			if r := inProgram(name); r != nil {
				return r
			}
		}
	}
	return nil
}

// inProgram is InGo for a file.
func inProgram(name string) *Runtime {
	f, err := safefile.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	info := buildInfo(f)
	if info == nil {
		return nil
	}
	for _, m := range info.Deps {
		r, ok := inGo[withoutMajor(m.Path)]
		if !ok {
			continue
		}
		if hasTag(info, "perfmap") && strings.Contains(r.note, "-tags perfmap") {
			r.note = "it was built with -tags perfmap: run jitinject where the map /tmp/perf-PID.map is"
		}
		return &r
	}
	return nil
}

// buildInfo returns what Go's linker wrote about a program, or nil. From Go 1.18 on, the section has 32 bytes and
// two strings with their lengths before them: the version, and the modules between marks of 16 bytes
func buildInfo(file io.ReaderAt) *debug.BuildInfo {
	const magic, header, inline, mark = "\xff Go buildinf:", 32, 2, 16
	f, err := elffile.Open(file)
	if err != nil {
		return nil
	}
	s := f.Section(".go.buildinfo")
	if s == nil || s.FileSize > 1<<20 {
		return nil
	}
	b, err := s.Data()
	if err != nil || len(b) < header || string(b[:len(magic)]) != magic || b[15]&inline == 0 {
		return nil
	}
	c := wire.NewCursor("Go", ".go.buildinfo", b[header:], f.ByteOrder, header)
	c.Bytes("version", c.Uleb("version"))
	modules := c.Bytes("modules", c.Uleb("modules"))
	if c.Err() != nil || len(modules) < 2*mark {
		return nil
	}
	info, err := debug.ParseBuildInfo(string(modules[mark : len(modules)-mark]))
	if err != nil {
		return nil
	}
	return info
}

// withoutMajor returns the path of a module without the major version, which ends some.
func withoutMajor(module string) string {
	if dir, last := path.Split(module); len(last) > 1 && last[0] == 'v' && strings.Trim(last[1:], "0123456789") == "" {
		return strings.TrimSuffix(dir, "/")
	}
	return module
}

// hasTag reports whether a program was built with a tag.
func hasTag(info *debug.BuildInfo, tag string) bool {
	for _, s := range info.Settings {
		if s.Key == "-tags" && strings.Contains(","+s.Value+",", ","+tag+",") {
			return true
		}
	}
	return false
}
