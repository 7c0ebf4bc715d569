package cost

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"os"
	"slices"
	"strings"
)

// answers gives the scene a debuginfod-find that answers with a file, or, if it is to fail, with a text on its
// standard error, and a result with an object that is not there.
func (s *scene) answers(file []byte, fails bool) {
	s.t.Helper()
	s.recorded(nil)
	s.must(os.Remove(s.path("jitted-4711-1.so")))
	s.must(os.WriteFile(s.path("answer"), file, 0o600))
	does := `cd "${0%debuginfod-find}" && cp answer copy && echo "$PWD/copy"`
	if fails {
		does = `cat "${0%debuginfod-find}answer" >&2; exit 1`
	}
	s.must(os.WriteFile(s.path("debuginfod-find"), []byte("#!/bin/sh\n"+does+"\n"), 0o700))
	s.variables = []string{"PATH=" + s.dir + ":" + os.Getenv("PATH")}
}

// fetchRuns ask the server.
var fetchRuns = []string{
	"fetch --all --server http://localhost:1 --buildid-cache a result.data", "fetch --all -v --server http://localhost:1 --in-place result.data",
}

// Answers of other programs, and perf's configuration.
var worstTools = []worst{
	{"debuginfod", "sections with ends of one long name", func(s *scene, size int) {
		s.answers(elfProgram(symbols(1, 2, 0x1000, 64, first), long(size/2), slices.Repeat([]part{{name: "x", kind: elf.SHT_NOBITS}}, size/128)...), false)
	}, fetchRuns},
	{"debuginfod", "sections of one table of notes", func(s *scene, size int) {
		notes := part{name: ".note", kind: elf.SHT_NOTE, content: bytes.Repeat(words(4, 0, 1, uint32('x')), size/32)}
		file := elfFile(elf.ET_DYN, slices.Concat([]part{text, notes}, slices.Repeat([]part{{name: "n", kind: elf.SHT_NOTE}}, size/128))...)
		le := binary.LittleEndian
		headers := file[le.Uint64(file[40:]):]
		for i := 4; i < len(headers)/64; i++ { // the same bytes as the third one
			copy(headers[64*i+24:][:16], headers[64*3+24:][:16])
		}
		s.answers(file, false)
	}, fetchRuns},
	{"debuginfod", "no ELF file", func(s *scene, size int) { s.answers(make([]byte, size), false) }, fetchRuns},
	{"debuginfod", "lines of a failure", func(s *scene, size int) { s.answers(bytes.Repeat([]byte("\n"), size), true) }, fetchRuns},
	{"debuginfod", "errors of servers", func(s *scene, size int) {
		line := "The requested URL returned error: 4\n"
		s.answers([]byte(strings.Repeat(line, size/len(line))), true)
	}, fetchRuns},
	{"perf's configuration", "sections", configured("[a]\n"), configRuns},
	{"perf's configuration", "values", configured("[buildid]\ndir=a\n"), configRuns},
	{"perf's configuration", "one line", configured("["), configRuns},
}

// configRuns ask perf's configuration for the build-id cache.
var configRuns = []string{"fetch --dry-run perf.data"}

// configured returns a maker of a configuration that repeats a text.
func configured(text string) func(s *scene, size int) {
	return func(s *scene, size int) {
		s.started()
		s.must(os.WriteFile(s.path("config"), []byte(strings.Repeat(text, size/len(text))), 0o600))
		s.variables = []string{"PERF_CONFIG=" + s.path("config")}
	}
}
