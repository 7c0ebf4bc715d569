package main

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/jitinject/jitinject/internal/clock"
	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/manual"
)

// options are what the command line says.
type options struct {
	config.Options
	recording int // which argument without an option is the input, from 1; 0 for none
	jit       bool
	verbose   int
	quiet     bool
	cfi       bool     // CFI says what that means
	dumps     []string // PID=FILE
	mono      []string // [PID=]FILE, as j9 and perfMaps
	monoNames string
	j9        []string
	perfMaps  []string
	xray      []string
	alone     []config.SideFile // named without an option
	live      []uint            // pids
	summary   string
	count     bool
	progress  string
	failure   string // how the recorded command failed, as jitinject record knows, or ""
	unlogged  string // how functions get V8's log, as jitinject record knows, or ""
	partial   string // what there is without a result, as jitinject record knows, or ""
	version   bool
	idle      []string // options of perf inject that mean nothing for jitted code
}

// foreignOptions are the options of perf inject that have nothing to do with jitted code, idleOptions
// those of them that change nothing with --jit.
var (
	foreignOptions = append(strings.Fields("aslr build-ids buildid-all convert-callchain guest-data itrace mmap2-buildid-all mmap2-buildids sched-stat strip vm-time-correlation"), idleOptions...)
	idleOptions    = strings.Fields("guestmount ignore-vmlinux kallsyms known-build-ids unwind-style vmlinux")
)

// sharedOptions are those of perf inject that are ours, too.
var sharedOptions = []string{"input", "output", "jit", "force", "verbose"}

var foreignShort = map[string]string{"build-ids": "b", "sched-stat": "s", "vmlinux": "k", "mmap2-buildids": "B"}

// defaultOutput is the result of inject, and what clean cleans.
const defaultOutput = "perf.jit.data"

// newFlags describes the options of the command inject.
func newFlags(o *options) *pflag.FlagSet {
	fs := newFlagSet("inject")
	fs.StringVarP(&o.Input, "input", "i", "perf.data", "read the recording from `FILE`")
	fs.StringVarP(&o.Output, "output", "o", defaultOutput, "write the result to `FILE`; - is standard output")
	fs.BoolVarP(&o.jit, "jit", "j", true, "for compatibility with perf inject; always on")
	fs.BoolVarP(&o.Force, "force", "f", false, "read a recording that belongs to another user")
	fs.StringVar(&o.Objects, "objects", "", "write the objects to `DIR`, not beside the dumps (for perf maps: beside the result)")
	fs.StringVar(&o.BuildIDCache, "buildid-cache", "", "also put the objects into the build-id cache `DIR` (default: perf's, usually ~/.debug), for perf archive")
	fs.Lookup("buildid-cache").NoOptDefVal = perfsCache
	fs.BoolVar(&o.Bundle, "bundle", false, "make one object for each region of code, not one for each function")
	fs.BoolVar(&o.Sampled, "sampled", false, "make objects only for functions that the recording refers to, and for their branch targets")
	fs.StringVar(&o.Sources, "sources", "", "write the source files that are in dumps and V8 logs to `DIR`, where perf annotate finds them")
	fs.BoolVar(&o.EmbedSources, "embed-sources", false, "also put these sources into the objects, for LLVM's tools; binutils' tools then read no lines")
	fs.BoolVar(&o.SourceMaps, "source-maps", false, "show transpiled JavaScript with the files, lines, columns and names of its source maps, which V8 logs name")
	fs.BoolVar(&o.cfi, "cfi", false, "derive missing unwind tables from the code; by default, only if the recording has copies of stacks")
	listVar(fs, &o.DumpDirs, "dump-dir", "also look for dumps in `DIR`; may be repeated")
	fs.StringVar(&o.Clock, "clock", "auto", "`auto|strict|NS`: how to match times without perf record -k mono: estimate the offset (auto), refuse (strict), or add NS nanoseconds to the dumps' times")
	listVar(fs, &o.dumps, "dump", "`PID=FILE`: use FILE as the dump of process PID of the recording; may be repeated")
	listVar(fs, &o.mono, "mono", "`[PID=]FILE`: read FILE, a log of Mono's profiler, as the log of process PID; may be repeated; logs beside the recording are found without it")
	fs.BoolVar(&o.Precompiled, "mono-aot", false, "use the names in Mono's logs for ahead-of-time compiled code, too, instead of the symbols of its files")
	fs.StringVar(&o.monoNames, "mono-names", "full", "`full|short`: name Mono's methods with their parameters (full), or without (short)")
	listVar(fs, &o.j9, "j9", "`[PID=]FILE`: read FILE, a capture of OpenJ9's metadata (X.bin or X.json) or a directory of captures, as those of process PID; may be repeated")
	listVar(fs, &o.perfMaps, "map", "`[PID=]FILE`: name the functions of process PID by FILE, a perf map (perf-PID.map); may be repeated; maps in /tmp and beside the recording are found without it")
	listVar(fs, &o.xray, "xray", "add the calls of `FILE`, a trace of XRay's flight data recorder; may be repeated")
	listVar(fs, &o.Programs, "xray-binary", "use `FILE` as the program that wrote the traces, if the recorded file is gone; may be repeated")
	fs.Uint32Var(&o.PID, "pid", 0, "use process `PID` for logs, traces and captures that do not name their process")
	listVar(fs, &o.CodeFrom, "code-from", "take missing code from `FILE`, a core dump of the process or a file that it had mapped; may be repeated")
	fs.UintSliceVar(&o.live, "live", nil, "take missing code, and the end of its dump, from the memory of the running process `PID`; may be repeated")
	fs.IntVar(&o.DWARF, "dwarf", 5, "`4|5`: version of DWARF in the objects")
	fs.IntVarP(&o.Compress, "compression-level", "z", 0, "compress the result with zstd at `LEVEL` 1 to 22 (-z alone: 1)")
	fs.Lookup("compression-level").NoOptDefVal = "1"
	fs.BoolVar(&o.NoSync, "no-sync", false, "do not wait until the result is on the disk; a power cut may then lose it")
	fs.IntVar(&o.Jobs, "jobs", 0, "make `N` objects at the same time (default: one for each CPU)")
	fs.BoolVar(&o.Strict, "strict", false, "write nothing if anything would be missing")
	fs.StringVar(&o.summary, "summary", "text", "`text|json`: print the summary as text on standard error, or as JSON on standard output")
	offOnly(fs, &o.count, "count", "do not count samples in JIT code, which may need another pass over the recording")
	fs.StringVar(&o.progress, "progress", "auto", "`auto|always|never`: show the progress; auto: on a terminal that no other program of a pipeline uses, after one second")
	fs.CountVarP(&o.verbose, "verbose", "v", "print more; may be repeated")
	fs.Lookup("jit").DefValue = "false" // not worth a word in the usage
	fs.BoolVarP(&o.quiet, "quiet", "q", false, "print only errors and problems")
	fs.BoolVar(&o.version, "version", false, "print the version")

	for _, name := range foreignOptions {
		fs.StringP(name, foreignShort[name], "", "")
		if !slices.Contains(idleOptions, name) || name == "ignore-vmlinux" { // the others take a value
			fs.Lookup(name).NoOptDefVal = "true"
		}
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
		o.CFI = config.CFIAlways
	case fs.Changed("cfi"), fs.Changed("no-cfi"):
		o.CFI = config.CFINever
	}
	for _, name := range foreignOptions {
		switch {
		case fs.Changed(name) && slices.Contains(idleOptions, name):
			o.idle = append(o.idle, fmt.Sprintf("--%s changes nothing for jitted code", name))
		case fs.Changed(name):
			return usageError(fmt.Sprintf("--%s is not about jitted code; run perf inject --%[1]s on the output", name))
		}
	}
	if err := o.takeFiles(fs); err != nil {
		return err
	}
	for _, name := range []string{"input", "output", "objects", "buildid-cache", "sources", "dump-dir", "xray", "xray-binary"} {
		lists := map[string][]string{"dump-dir": o.DumpDirs, "xray": o.xray, "xray-binary": o.Programs}
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
	case !clock.ValidClock(o.Clock):
		return usageError(fmt.Sprintf("--clock %s: invalid value; use auto, strict, or a number of nanoseconds%s", typed(o.Clock), didYouMean(o.Clock, []string{"auto", "strict"})))
	case o.DWARF != 4 && o.DWARF != 5:
		return usageError(fmt.Sprintf("--dwarf %d: the versions are 4 and 5", o.DWARF))
	case o.EmbedSources && o.DWARF != 5:
		return usageError("--embed-sources: DWARF 4 has no place for them; leave out --dwarf 4")
	case o.Jobs < 0 || o.Jobs == 0 && fs.Changed("jobs"):
		return usageError(fmt.Sprintf("--jobs %d: it takes a number from 1 on", o.Jobs))
	case o.Compress < 0 || o.Compress > 22:
		return usageError(fmt.Sprintf("-z%d: levels go from 1 to 22", o.Compress))
	case o.summary == "json" && o.Output == "-":
		return usageError("--summary json and -o - both want standard output; name a file with -o")
	}
	return o.checkKinds()
}

// optionGroups are the headings of the options of the command inject, in the order of the help. Each
// option is in one group: a test checks that.
var optionGroups = []struct{ title, options string }{
	{"Common options", "input output force dump-dir sampled bundle buildid-cache strict verbose quiet"},
	{"V8 (Node.js, Deno): jitinject help v8log", "source-maps sources embed-sources"},
	{"Mono: jitinject help mono", "mono mono-aot mono-names"},
	{"OpenJ9: jitinject help openj9", "j9"},
	{"Runtimes with a perf map: jitinject help perfmap", "map"},
	{"XRay: jitinject help xray", "xray xray-binary"},
	{"Missing code and pids: jitinject help gdbjit", "code-from live pid"},
	{"Input", "dump clock"},
	{"Objects and result", "objects cfi dwarf compression-level no-sync jobs"},
	{"Messages", "summary no-count progress version help"},
	{"Compatibility", "jit"},
}

// optionBlocks returns the descriptions of a command's options: those of inject in groups.
func optionBlocks(c *subcommand) (blocks []manual.Block) {
	flags := visible(c.options())
	if c.name != "inject" {
		for _, f := range flags {
			blocks = append(blocks, optionBlock(f))
		}
		return blocks
	}
	byName := make(map[string]*pflag.Flag)
	for _, f := range flags {
		byName[f.Name] = f
	}
	for _, g := range optionGroups {
		blocks = append(blocks, manual.Block{Kind: manual.Subheading, Text: g.title})
		for _, name := range strings.Fields(g.options) {
			blocks = append(blocks, optionBlock(byName[name]))
		}
	}
	return blocks
}
