package cost

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// sourceMapped returns a maker of a process of V8 with a script and its source map, whose text has the asked size.
func sourceMapped(text func(size int) string) func(s *scene, size int) {
	return func(s *scene, size int) {
		dir := s.path(strings.Repeat(strings.Repeat("d", 200)+"/", 10)) // paths of sources begin with it
		s.must(os.MkdirAll(dir, 0o755))
		name := filepath.Join(dir, "big.map")
		s.must(os.WriteFile(name, []byte(`{"version":3,`+text(size)+`}`), 0o644))
		v := s.newV8(child(0))
		fmt.Fprintf(&v.log, "script-source,1,/a.js,%s\\n//# sourceMappingURL=%s\\n\n", strings.Repeat("x", 100), name)
		for i := range 10 {
			v.both(i, listed(i))
		}
		v.write(1)
	}
}

var mapRuns = []string{"inject --source-maps -i perf.data"}

// Source maps.
var worstMaps = []worst{
	{"source map", "sourceRoot and sources", sourceMapped(func(size int) string {
		return `"sourceRoot":"` + strings.Repeat("r", size/2) + `","sources":[` + strings.Repeat(`"a",`, size/8) + `""],"names":[],"mappings":"AAAA"`
	}), mapRuns},
	{"source map", "sources", sourceMapped(func(size int) string {
		return `"sources":[` + strings.Repeat(`"a",`, size/4) + `""],"names":[],"mappings":"` + strings.Repeat("ACAA,", 100) + `"`
	}), mapRuns},
	{"source map", "empty sources", sourceMapped(func(size int) string {
		return `"sources":[` + strings.Repeat(`"",`, size/3) + `""],"names":[],"mappings":"AAAA"`
	}), mapRuns},
	{"source map", "names", sourceMapped(func(size int) string {
		return `"sources":["a"],"names":[` + strings.Repeat(`"",`, size/3) + `""],"mappings":"AAAA"`
	}), mapRuns},
	{"source map", "segments", sourceMapped(func(size int) string {
		return `"sources":["a"],"names":[],"mappings":"` + strings.Repeat("CAAC,", size/5) + `AAAA"`
	}), mapRuns},
	{"source map", "segments without a source", sourceMapped(func(size int) string {
		return `"sources":["a"],"names":[],"mappings":"` + strings.Repeat("C,", size/2) + `AAAA"`
	}), mapRuns},
	{"source map", "lines", sourceMapped(func(size int) string {
		return `"sources":["a"],"names":[],"mappings":"` + strings.Repeat(";", size) + `AAAA"`
	}), mapRuns},
	{"source map", "sections", sourceMapped(func(size int) string {
		one := `{"offset":{"line":0,"column":0},"map":{"version":3,"sources":[],"names":[],"mappings":"A"}}`
		return `"sections":[` + strings.Repeat(one+",", size/len(one)) + one + `]`
	}), mapRuns},
	{"source map", "sections with a sourceRoot", sourceMapped(func(size int) string {
		one := `{"offset":{"line":0,"column":0},"map":{"version":3,"sourceRoot":"` + strings.Repeat("r", 2000) + `","sources":[` + strings.Repeat(`"a",`, 500) + `""],"names":[],"mappings":"AAAA"}}`
		return `"sections":[` + strings.Repeat(one+",", size/len(one)) + one + `]`
	}), mapRuns},
	{"source map", "lists in lists", sourceMapped(func(size int) string {
		return `"x":` + strings.Repeat("[", size/2) + strings.Repeat("]", size/2) + `,"sources":["a"],"names":[],"mappings":"AAAA"`
	}), mapRuns},
	{"source map", "a map of many scripts", func(s *scene, size int) {
		s.must(os.WriteFile(s.path("big.map"), []byte(`{"version":3,"sources":["a"],"names":[],"mappings":"`+strings.Repeat("CAAC,", size/10)+`AAAA"}`), 0o644))
		v := s.newV8(child(0))
		for i := range size / 2 / 300 {
			fmt.Fprintf(&v.log, "script-source,%d,/a%d.js,%s\\n//# sourceMappingURL=%s/big.map\\n\n", i+1, i, strings.Repeat("x", 100), s.manyPaths(i))
		}
		for i := range 10 {
			v.both(i, listed(i))
		}
		v.write(1)
	}, mapRuns},
	{"source map", "small maps of many scripts", func(s *scene, size int) {
		const each = 30_000
		files := max(1, size/2/each)
		for i := range files {
			s.must(os.WriteFile(s.path(fmt.Sprint("m", i)), []byte(`{"version":3,"sources":["a"],"names":[],"mappings":"`+strings.Repeat("CAAC,", each/5)+`AAAA"}`), 0o644))
		}
		v := s.newV8(child(0))
		for i := range size / 2 / 90 {
			fmt.Fprintf(&v.log, "script-source,%d,/a%d.js,x\\n//# sourceMappingURL=%s/m%d\\n\n", i+1, i, s.dir, i%files)
		}
		for i := range 10 {
			v.both(i, listed(i))
		}
		v.write(1)
	}, mapRuns},
	{"source map", "texts", sourceMapped(func(size int) string {
		return `"sources":[""],"sourcesContent":[` + strings.Repeat(`"",`, size/3) + `""],"names":[],"mappings":"AAAA"`
	}), mapRuns},
	{"source map", "escaped text", sourceMapped(func(size int) string {
		return `"sources":["a"],"sourcesContent":["` + strings.Repeat(`\u0001`, size/6) + `"],"names":[],"mappings":"AAAA"`
	}), mapRuns},
}

// perfMapped returns a maker of a process with a perf map.
func perfMapped(line func(i int) string) func(s *scene, size int) {
	return func(s *scene, size int) {
		s.Machine = "x86_64"
		s.Comm(pid, s.tick(), "prog", true)
		s.Mmap2(pid, s.tick(), base, 1<<30, 0, "//anon")
		s.Mmap2(pid, s.tick(), 1<<16, 1<<30, 0, "//anon")
		s.samples(10)
		var text strings.Builder
		fmt.Fprintf(&text, "%x 40 first\n", base)
		for i := 0; text.Len() < size; i++ {
			text.WriteString(line(i))
		}
		s.must(os.WriteFile(s.path("perf-4711.map"), []byte(text.String()), 0o644))
		s.files = append(s.files, s.path("perf-4711.map"))
	}
}

var perfMapRuns = []string{"inject -i perf.data", "inject --bundle -i perf.data", "verify perf-4711.map", "dump perf-4711.map", "dump --json perf-4711.map"}

// Perf maps.
var worstPerfMaps = []worst{
	{"perf map", "functions", perfMapped(func(i int) string { return fmt.Sprintf("%x 40 f\n", place(i)) }), perfMapRuns},
	{"perf map", "shortest lines", perfMapped(func(i int) string { return fmt.Sprintf("%x 1 f\n", 1<<16+i) }), perfMapRuns},
	{"perf map", "functions at one address", perfMapped(func(i int) string { return fmt.Sprintf("%x %x f\n", base, i+1) }), perfMapRuns},
	{"perf map", "functions that overlap", perfMapped(func(i int) string { return fmt.Sprintf("%x 4000 f\n", place(i)) }), perfMapRuns},
	{"perf map", "lines without a function", perfMapped(func(i int) string { return "x\n" }), perfMapRuns},
	{"perf map", "empty lines", perfMapped(func(i int) string { return "\n" }), perfMapRuns},
	{"perf map", "long names", perfMapped(func(i int) string { return fmt.Sprintf("%x 40 %s\n", place(i), strings.Repeat("\x01", 8000)) }), perfMapRuns},
	{"perf map", "demangled names", perfMapped(func(i int) string { return fmt.Sprintf("%x 40 %s\n", place(i), mangled()) }), perfMapRuns},
}
