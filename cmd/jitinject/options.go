package main

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	engine "github.com/jitinject/jitinject/inject"
)

// options are what the command line says.
type options struct {
	input, output string
	recording     int // which argument without an option is the input, from 1; 0 for none
	jit           bool
	force         bool
	verbose       int
	quiet         bool
	objects       string
	sources       string
	cache         string
	sampled       bool
	bundle        bool
	embed         bool
	sourceMaps    bool
	cfi           bool
	frames        engine.CFI // what that means
	dumpDirs      []string
	clock         string
	dumps         []string          // PID=FILE
	named         []engine.SideFile // what they mean
	mono          []string          // [PID=]FILE
	logs          []engine.SideFile // what they mean
	monoAOT       bool
	monoNames     string
	j9            []string          // [PID=]FILE
	captures      []engine.SideFile // what they mean
	perfMaps      []string          // [PID=]FILE
	maps          []engine.SideFile // what they mean
	alone         []engine.SideFile // named without an option
	xray          []string
	xrayBinary    []string
	pid           uint32
	codeFrom      []string
	live          []uint // pids
	dwarf         int
	jobs          int
	noSync        bool
	defaultInput  bool // no input was named
	defaultOutput bool // no output was named
	strict        bool
	summary       string
	count         bool
	progress      string
	compress      int
	version       bool
	foreign       map[string]*string // options of perf inject that are not about JIT
}

// foreignOptions are the options of perf inject that have nothing to do with
// jitted code, and what to do instead.
var foreignOptions = map[string]string{
	"build-ids":           "perf inject -b",
	"buildid-all":         "perf inject --buildid-all",
	"mmap2-buildids":      "perf inject --mmap2-buildids",
	"mmap2-buildid-all":   "perf inject --mmap2-buildid-all",
	"known-build-ids":     "perf inject --known-build-ids",
	"sched-stat":          "perf inject --sched-stat",
	"itrace":              "perf inject --itrace",
	"strip":               "perf inject --strip",
	"vm-time-correlation": "perf inject --vm-time-correlation",
	"guest-data":          "perf inject --guest-data",
	"guestmount":          "perf inject --guestmount",
	"vmlinux":             "perf inject --vmlinux",
	"kallsyms":            "perf inject --kallsyms",
	"ignore-vmlinux":      "perf inject --ignore-vmlinux",
	"convert-callchain":   "perf inject --convert-callchain",
	"aslr":                "perf inject --aslr",
	"unwind-style":        "perf inject --unwind-style",
}

// sharedOptions are those of perf inject that are ours, too.
var sharedOptions = []string{"input", "output", "jit", "force", "verbose"}

var foreignShort = map[string]string{"build-ids": "b", "sched-stat": "s", "vmlinux": "k", "mmap2-buildids": "B"}

// newFlags describes the options of the command inject.
func newFlags(o *options) *pflag.FlagSet {
	fs := newFlagSet("inject")
	fs.StringVarP(&o.input, "input", "i", "perf.data", "read the recording from `FILE`")
	fs.StringVarP(&o.output, "output", "o", "perf.jit.data", "write the result to `FILE`; to standard output, if the input is - or named and a pipe stands there")
	fs.BoolVarP(&o.jit, "jit", "j", true, "as with perf inject; always on")
	fs.BoolVarP(&o.force, "force", "f", false, "read a recording that belongs to someone else")
	fs.StringVar(&o.objects, "objects", "", "put the objects into `DIR`, not beside the dumps (or beside the result, for perf maps)")
	fs.StringVar(&o.cache, "buildid-cache", "", "put the objects into perf's build-id cache `DIR` as well, if none is named into the one that perf is configured to use, usually ~/.debug, so that perf archive packs them up")
	fs.Lookup("buildid-cache").NoOptDefVal = perfsCache
	fs.BoolVar(&o.bundle, "bundle", false, "make one object for each region of memory with code, instead of one for each function")
	fs.BoolVar(&o.sampled, "sampled", false, "make objects only for functions that something in the recording touches, and those that they branch to")
	fs.StringVar(&o.sources, "sources", "", "write source files that dumps and logs of V8 bring along into `DIR`, where perf annotate finds them")
	fs.BoolVar(&o.embed, "embed-sources", false, "put them into the objects as well, for LLVM's tools; those of binutils read no lines then")
	fs.BoolVar(&o.sourceMaps, "source-maps", false, "give transpiled JavaScript the files, lines, columns and names of its source maps, which scripts in logs of V8 name")
	fs.BoolVar(&o.cfi, "cfi", false, "derive unwind tables from the code where the runtime sends none; by default, only if the recording has stacks to unwind")
	fs.StringArrayVar(&o.dumpDirs, "dump-dir", nil, "look for dumps in `DIR` as well; may be repeated")
	fs.StringVar(&o.clock, "clock", "auto", "`auto|strict|NS`: for a recording made without -k mono, estimate by how much times differ (auto), refuse (strict), or add NS nanoseconds to the times of dumps")
	fs.StringArrayVar(&o.dumps, "dump", nil, "`PID=FILE`: use FILE as the dump of process PID of the recording; may be repeated")
	fs.StringArrayVar(&o.mono, "mono", nil, "`[PID=]FILE`: read FILE, a log of Mono's log profiler, as that of process PID if one is named; may be repeated, and is not needed where the log lies beside the recording")
	fs.BoolVar(&o.monoAOT, "mono-aot", false, "give code that was compiled ahead of time the names in Mono's logs as well, in place of the symbols of its files")
	fs.StringVar(&o.monoNames, "mono-names", "full", "`full|short`: name Mono's methods with their parameters, as Mono does, or without")
	fs.StringArrayVar(&o.j9, "j9", nil, "`[PID=]FILE`: read FILE, a capture of OpenJ9's metadata (X.bin with X.json beside it) or a directory of them, as that of process PID if one is named; may be repeated")
	fs.StringArrayVar(&o.perfMaps, "map", nil, "`[PID=]FILE`: name functions by FILE, a perf map (perf-PID.map), as that of process PID if one is named; may be repeated, and is not needed where the map is in /tmp, where perf looks, or beside the recording")
	fs.StringArrayVar(&o.xray, "xray", nil, "put in the calls of `FILE`, a trace of XRay's flight data recorder; may be repeated")
	fs.StringArrayVar(&o.xrayBinary, "xray-binary", nil, "take `FILE` for the program that wrote traces, if the one in the recording is gone; may be repeated")
	fs.Uint32Var(&o.pid, "pid", 0, "take logs, traces and captures that do not say whose they are for those of process `PID`")
	fs.StringArrayVar(&o.codeFrom, "code-from", nil, "take code that a log, a capture or a perf map does not have from `FILE`: a core dump of the process, or a file that it had mapped; may be repeated")
	fs.UintSliceVar(&o.live, "live", nil, "read the memory of process `PID`, which still runs, where a core dump of it would do; may be repeated")
	fs.IntVar(&o.dwarf, "dwarf", 5, "`4|5`: the version of DWARF that debugging information has")
	fs.IntVarP(&o.compress, "compression-level", "z", 0, "compress the result with zstd at `LEVEL` 1 to 22 (1 if -z stands alone)")
	fs.Lookup("compression-level").NoOptDefVal = "1"
	fs.BoolVar(&o.noSync, "no-sync", false, "do not wait until the result is on the disk; a power cut may lose it then")
	fs.IntVar(&o.jobs, "jobs", 0, "make `N` objects at once (default: one for each CPU)")
	fs.BoolVar(&o.strict, "strict", false, "write nothing if anything would be missing")
	fs.StringVar(&o.summary, "summary", "text", "`text|json`: say what was done in words on standard error, or as JSON on standard output")
	fs.BoolVar(&o.count, "count", true, "")
	fs.MarkHidden("count") // what it is without is worth a word
	fs.Var(negated{fs.Lookup("count").Value}, "no-count", "do not count the samples in jitted code, which may take another walk through a long recording")
	fs.Lookup("no-count").NoOptDefVal, fs.Lookup("no-count").DefValue = "true", "false"
	fs.StringVar(&o.progress, "progress", "auto", "`auto|always|never`: show how far it is; auto does so on a terminal that no pipeline shares, for what takes more than a second")
	fs.CountVarP(&o.verbose, "verbose", "v", "say more; may be repeated")
	fs.Lookup("jit").DefValue = "false" // not worth a word in the usage
	fs.BoolVarP(&o.quiet, "quiet", "q", false, "say nothing but errors")
	fs.BoolVar(&o.version, "version", false, "print the version")

	o.foreign = make(map[string]*string)
	for name := range foreignOptions {
		o.foreign[name] = new(string)
		fs.StringVarP(o.foreign[name], name, foreignShort[name], "", "")
		fs.Lookup(name).NoOptDefVal = "true"
		fs.MarkHidden(name)
	}
	return fs
}

// levels writes -z9 as -z=9: what may stand alone does not take what follows it.
func levels(args []string) []string {
	args = slices.Clone(args)
	for i, arg := range args {
		if level, ok := strings.CutPrefix(arg, "-z"); ok && level != "" && strings.Trim(level, "0123456789") == "" {
			args[i] = "-z=" + level
		}
	}
	return args
}

// check completes the options and refuses what makes no sense.
func (o *options) check(fs *pflag.FlagSet) error {
	switch {
	case o.cfi:
		o.frames = engine.CFIAlways
	case fs.Changed("cfi"), fs.Changed("no-cfi"):
		o.frames = engine.CFINever
	}
	for _, name := range slices.Sorted(maps.Keys(foreignOptions)) {
		if fs.Changed(name) {
			return usageError(fmt.Sprintf("--%s is not about jitted code; run %s on the output", name, foreignOptions[name]))
		}
	}
	if err := o.takeFiles(fs); err != nil {
		return err
	}
	for _, name := range []string{"input", "output", "objects", "buildid-cache", "sources", "dump-dir", "xray", "xray-binary"} {
		lists := map[string][]string{"dump-dir": o.dumpDirs, "xray": o.xray, "xray-binary": o.xrayBinary}
		if f := fs.Lookup(name); f.Changed && (f.Value.String() == "" || slices.Contains(lists[name], "")) {
			return usageError(fmt.Sprintf("--%s: the name is empty", name))
		}
	}
	if err := o.findCache(); err != nil {
		return err
	}
	for _, d := range o.dumps {
		pid, file, _ := strings.Cut(d, "=")
		n, err := strconv.ParseUint(pid, 10, 32)
		if err != nil || file == "" {
			return usageError(fmt.Sprintf("--dump %s: it takes PID=FILE, a process of the recording and its dump", d))
		}
		if slices.ContainsFunc(o.named, func(other engine.SideFile) bool { return uint64(other.PID) == n }) {
			return usageError(fmt.Sprintf("--dump %s: a dump of process %d was named already", d, n))
		}
		o.named = append(o.named, engine.SideFile{PID: uint32(n), Path: file})
	}
	for _, pid := range o.live {
		if pid == 0 || pid > math.MaxInt32 {
			return usageError(fmt.Sprintf("--live %d: it takes the number of a process", pid))
		}
	}
	for _, l := range o.mono {
		named := maybeOf(l)
		if named.Path == "" {
			return usageError(fmt.Sprintf("--mono %s: it takes FILE or PID=FILE, a log of Mono's log profiler", typed(l)))
		}
		o.logs = append(o.logs, named)
	}
	for _, c := range o.j9 {
		named := maybeOf(c)
		if named.Path == "" {
			return usageError(fmt.Sprintf("--j9 %s: it takes FILE or PID=FILE, a capture of OpenJ9's metadata or a directory of them", typed(c)))
		}
		o.captures = append(o.captures, named)
	}
	for _, m := range o.perfMaps {
		named := maybeOf(m)
		if named.Path == "" {
			return usageError(fmt.Sprintf("--map %s: it takes FILE or PID=FILE, a perf map", typed(m)))
		}
		o.maps = append(o.maps, named)
	}
	switch {
	case !o.jit:
		return usageError("--no-jit leaves nothing to do; to copy a recording, use cp or perf inject")
	case !engine.ValidClock(o.clock):
		return usageError(fmt.Sprintf("--clock %s: it can be auto, strict, or a number of nanoseconds%s", typed(o.clock), didYouMean(o.clock, []string{"auto", "strict"})))
	case o.dwarf != 4 && o.dwarf != 5:
		return usageError(fmt.Sprintf("--dwarf %d: the versions are 4 and 5", o.dwarf))
	case o.embed && o.dwarf != 5:
		return usageError("--embed-sources: DWARF 4 has no place for them; leave out --dwarf 4")
	case o.jobs < 0 || o.jobs == 0 && fs.Changed("jobs"):
		return usageError(fmt.Sprintf("--jobs %d: it takes a number from 1 on", o.jobs))
	case o.compress < 0 || o.compress > 22:
		return usageError(fmt.Sprintf("-z%d: levels go from 1 to 22", o.compress))
	case o.summary == "json" && o.output == "-":
		return usageError("--summary json and -o - both want standard output; name a file with -o")
	}
	return o.checkKinds()
}

// maybeOf reads [PID=]FILE.
func maybeOf(arg string) engine.SideFile {
	if pid, file, ok := strings.Cut(arg, "="); ok {
		if n, err := strconv.ParseUint(pid, 10, 32); err == nil {
			return engine.SideFile{PID: uint32(n), Path: file}
		}
	}
	return engine.SideFile{Path: arg}
}
