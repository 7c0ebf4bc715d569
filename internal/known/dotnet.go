package known

import (
	"regexp"
	"slices"
	"strconv"
)

// dotnetDir matches the directory of .NET's libraries, which has its version.
var dotnetDir = regexp.MustCompile(`/Microsoft\.NETCore\.App/(\d{1,3})\.`)

const (
	dotnetDump   = 5 // the first major version of .NET that writes a dump
	dotnetPrefix = 6 // the first that reads variables beginning with DOTNET_, before those with COMPlus_
)

// dotnet returns r for a process of .NET that maps files of these names. The version is unknown if a
// program contains its runtime.
func dotnet(r Runtime, files []string) *Runtime {
	major := 0
	for _, name := range files {
		if m := dotnetDir.FindStringSubmatch(name); m != nil {
			n, _ := strconv.Atoi(m[1])
			major = max(major, n)
		}
	}
	switch {
	case major >= dotnetPrefix:
		r.note = ""
	case major > 0:
		r.flags = slices.DeleteFunc(slices.Clone(r.flags), func(f string) bool { return f != complusFlag })
		r.set, r.env, r.note = complusFlag+"=1", []string{complusFlag}, ""
		if major < dotnetDump {
			r.note = mapOnly
		}
	}
	return &r
}

// complusFlag is the variable that makes .NET before version 6 write maps or dumps.
const complusFlag = "COMPlus_PerfMapEnabled"

// mapOnly says what a perf map lacks.
const mapOnly = "which writes /tmp/perf-PID.map: names, without lines and code"
