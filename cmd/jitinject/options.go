package main

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/jitinject/jitinject/internal/clock"
	"github.com/jitinject/jitinject/internal/config"
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
	frames        config.CFI // what that means
	dumpDirs      []string
	clock         string
	dumps         []string // PID=FILE
	mono          []string // [PID=]FILE, as j9 and perfMaps
	monoAOT       bool
	monoNames     string
	j9            []string
	perfMaps      []string
	xray          []string
	files         []config.SideFile // what dumps, mono, xray, j9 and perfMaps name
	alone         []config.SideFile // named without an option
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
	failure       string // how the recorded command failed, as jitinject record knows, or ""
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

// defaultOutput is the result of inject, and what clean cleans.
const defaultOutput = "perf.jit.data"

// newFlags describes the options of the command inject.
func newFlags(o *options) *pflag.FlagSet {
	fs := newFlagSet("inject")
	fs.StringVarP(&o.input, "input", "i", "perf.data", "read the recording from `FILE`")
	fs.StringVarP(&o.output, "output", "o", defaultOutput, "write the result to `FILE`; - is standard output")
	fs.BoolVarP(&o.jit, "jit", "j", true, "for compatibility with perf inject; always on")
	fs.BoolVarP(&o.force, "force", "f", false, "read a recording that belongs to another user")
	fs.StringVar(&o.objects, "objects", "", "write the objects to `DIR`, not beside the dumps (for perf maps: beside the result)")
	fs.StringVar(&o.cache, "buildid-cache", "", "also put the objects into the build-id cache `DIR` (default: perf's, usually ~/.debug), for perf archive")
	fs.Lookup("buildid-cache").NoOptDefVal = perfsCache
	fs.BoolVar(&o.bundle, "bundle", false, "make one object for each region of code, not one for each function")
	fs.BoolVar(&o.sampled, "sampled", false, "make objects only for functions that the recording refers to, and for their branch targets")
	fs.StringVar(&o.sources, "sources", "", "write the source files that are in dumps and V8 logs to `DIR`, where perf annotate finds them")
	fs.BoolVar(&o.embed, "embed-sources", false, "also put these sources into the objects, for LLVM's tools; binutils' tools then read no lines")
	fs.BoolVar(&o.sourceMaps, "source-maps", false, "show transpiled JavaScript with the files, lines, columns and names of its source maps, which V8 logs name")
	fs.BoolVar(&o.cfi, "cfi", false, "derive missing unwind tables from the code; by default, only if the recording has copies of stacks")
	fs.StringArrayVar(&o.dumpDirs, "dump-dir", nil, "also look for dumps in `DIR`; may be repeated")
	fs.StringVar(&o.clock, "clock", "auto", "`auto|strict|NS`: how to match times without perf record -k mono: estimate the offset (auto), refuse (strict), or add NS nanoseconds to the dumps' times")
	fs.StringArrayVar(&o.dumps, "dump", nil, "`PID=FILE`: use FILE as the dump of process PID of the recording; may be repeated")
	fs.StringArrayVar(&o.mono, "mono", nil, "`[PID=]FILE`: read FILE, a log of Mono's profiler, as the log of process PID; may be repeated; logs beside the recording are found without it")
	fs.BoolVar(&o.monoAOT, "mono-aot", false, "use the names in Mono's logs for ahead-of-time compiled code, too, instead of the symbols of its files")
	fs.StringVar(&o.monoNames, "mono-names", "full", "`full|short`: name Mono's methods with their parameters (full), or without (short)")
	fs.StringArrayVar(&o.j9, "j9", nil, "`[PID=]FILE`: read FILE, a capture of OpenJ9's metadata (X.bin or X.json) or a directory of captures, as those of process PID; may be repeated")
	fs.StringArrayVar(&o.perfMaps, "map", nil, "`[PID=]FILE`: name the functions of process PID by FILE, a perf map (perf-PID.map); may be repeated; maps in /tmp and beside the recording are found without it")
	fs.StringArrayVar(&o.xray, "xray", nil, "add the calls of `FILE`, a trace of XRay's flight data recorder; may be repeated")
	fs.StringArrayVar(&o.xrayBinary, "xray-binary", nil, "use `FILE` as the program that wrote the traces, if the recorded file is gone; may be repeated")
	fs.Uint32Var(&o.pid, "pid", 0, "use process `PID` for logs, traces and captures that do not name their process")
	fs.StringArrayVar(&o.codeFrom, "code-from", nil, "take missing code from `FILE`, a core dump of the process or a file that it had mapped; may be repeated")
	fs.UintSliceVar(&o.live, "live", nil, "take missing code, and the end of its dump, from the memory of the running process `PID`; may be repeated")
	fs.IntVar(&o.dwarf, "dwarf", 5, "`4|5`: version of DWARF in the objects")
	fs.IntVarP(&o.compress, "compression-level", "z", 0, "compress the result with zstd at `LEVEL` 1 to 22 (-z alone: 1)")
	fs.Lookup("compression-level").NoOptDefVal = "1"
	fs.BoolVar(&o.noSync, "no-sync", false, "do not wait until the result is on the disk; a power cut may then lose it")
	fs.IntVar(&o.jobs, "jobs", 0, "make `N` objects at the same time (default: one for each CPU)")
	fs.BoolVar(&o.strict, "strict", false, "write nothing if anything would be missing")
	fs.StringVar(&o.summary, "summary", "text", "`text|json`: print the summary as text on standard error, or as JSON on standard output")
	fs.BoolVar(&o.count, "count", true, "")
	fs.MarkHidden("count") // what it is without is worth a word
	fs.Var(negated{fs.Lookup("count").Value}, "no-count", "do not count samples in JIT code, which may need another pass over the recording")
	fs.Lookup("no-count").NoOptDefVal, fs.Lookup("no-count").DefValue = "true", "false"
	fs.StringVar(&o.progress, "progress", "auto", "`auto|always|never`: show the progress; auto: on a terminal that no other program of a pipeline uses, after one second")
	fs.CountVarP(&o.verbose, "verbose", "v", "print more; may be repeated")
	fs.Lookup("jit").DefValue = "false" // not worth a word in the usage
	fs.BoolVarP(&o.quiet, "quiet", "q", false, "print only errors and problems")
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
		o.frames = config.CFIAlways
	case fs.Changed("cfi"), fs.Changed("no-cfi"):
		o.frames = config.CFINever
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
	if err := o.takeNamed(); err != nil {
		return err
	}
	for _, pid := range o.live {
		if pid == 0 || pid > math.MaxInt32 {
			return usageError(fmt.Sprintf("--live %d: it takes the number of a process", pid))
		}
	}
	switch {
	case !o.jit:
		return usageError("--no-jit leaves nothing to do; to copy a recording, use cp or perf inject")
	case !clock.ValidClock(o.clock):
		return usageError(fmt.Sprintf("--clock %s: invalid value; use auto, strict, or a number of nanoseconds%s", typed(o.clock), didYouMean(o.clock, []string{"auto", "strict"})))
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
