package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/formats"
	"github.com/jitinject/jitinject/internal/safefile/sys"
)

// Files are named with options or as plain arguments. The engine knows recordings, side files and
// core dumps by their first bytes or by the files beside them. So a shell pattern may follow an
// option that takes one file: --xray xray-log.app.*

// goesAlong reports whether a file can be named without an option.
func goesAlong(kind string) bool { return formats.IsNamed(kind) || kind == formats.Core }

// sideFiles returns the side files that were named, with their kinds.
func (o *options) sideFiles() []config.SideFile {
	files := slices.Clone(o.named)
	add := func(kind string, named []config.SideFile) {
		for _, f := range named {
			f.Kind = kind
			files = append(files, f)
		}
	}
	add(formats.Mono, o.logs)
	for _, path := range o.xray {
		files = append(files, config.SideFile{Kind: formats.XRay, Path: path})
	}
	add(formats.J9, o.captures)
	add(formats.PerfMap, o.maps)
	return append(files, o.alone...)
}

// livePIDs returns the processes of --live, each once.
func (o *options) livePIDs() (pids []uint32) {
	for _, pid := range o.live {
		if !slices.Contains(pids, uint32(pid)) {
			pids = append(pids, uint32(pid))
		}
	}
	return pids
}

// isDirectory reports whether a path is a directory of side files that are taken together.
func isDirectory(path string) bool {
	_, ok := formats.IsDirectory(path)
	return ok
}

// takeFiles takes in the files that stand alone. The first that cannot is an error.
func (o *options) takeFiles(fs *pflag.FlagSet) error {
	for i, name := range fs.Args() {
		if findCommand(name) != nil {
			return unexpectedWord(name, fs.Changed("input"))
		}
		if i+1 == o.recording {
			continue
		}
		kind := formats.Identify(name)
		if in, ok := formats.IsDirectory(name); ok {
			kind = in
		}
		switch {
		case kind == formats.Core:
			o.codeFrom = append(o.codeFrom, name)
		case formats.IsNamed(kind):
			o.alone = append(o.alone, config.SideFile{Kind: kind, Path: name})
		default:
			return unexpectedWord(name, fs.Changed("input"))
		}
	}
	return nil
}

// otherOfCapture returns the path of the file that must be beside a file called X.bin or X.json
// for both to be a capture, if it is not there; or else "".
func otherOfCapture(path string) string {
	stem, found := strings.CutSuffix(path, ".bin")
	other := stem + ".json"
	if !found {
		if stem, found = strings.CutSuffix(path, ".json"); !found {
			return ""
		}
		other = stem + ".bin"
	}
	if st, err := sys.Stat(path); err != nil || !st.Mode().IsRegular() {
		return ""
	}
	if _, err := sys.Lstat(other); !errors.Is(err, os.ErrNotExist) {
		return ""
	}
	return other
}

// checkKinds refuses files that are known to be something else than what their option takes.
func (o *options) checkKinds() error {
	const aDump, aLog, aTrace, code = "a dump", "a log of Mono's profiler", "an XRay trace", "a core dump or a file that was mapped"
	if err := wrongKind("-i", o.input, "a recording", formats.Recording); err != nil {
		return err
	}
	for _, d := range o.named {
		// Mono logs and perf maps are dumps, too.
		if err := wrongKind(fmt.Sprintf("--dump %d=", d.PID), d.Path, aDump, formats.Jitdump, formats.Mono, formats.PerfMap); err != nil {
			return err
		}
	}
	for _, l := range o.logs {
		option := "--mono"
		if l.PID != 0 {
			option = fmt.Sprintf("--mono %d=", l.PID)
		}
		if err := wrongKind(option, l.Path, aLog, formats.Mono); err != nil {
			return err
		}
	}
	for _, c := range o.captures {
		option := "--j9"
		if c.PID != 0 {
			option = fmt.Sprintf("--j9 %d=", c.PID)
		}
		if err := wrongKind(option, c.Path, "a capture of OpenJ9's metadata", formats.J9); err != nil {
			return err
		}
	}
	for _, m := range o.maps {
		option := "--map"
		if m.PID != 0 {
			option = fmt.Sprintf("--map %d=", m.PID)
		}
		if err := wrongKind(option, m.Path, "a perf map", formats.PerfMap); err != nil {
			return err
		}
	}
	for _, path := range o.xray {
		if err := wrongKind("--xray", path, aTrace, formats.XRay); err != nil {
			return err
		}
	}
	for _, path := range o.codeFrom {
		if err := wrongKind("--code-from", path, code, formats.Core, formats.ELF); err != nil {
			return err
		}
	}
	return nil
}

// wrongKind is the error for a file that an option does not take, or nil.
func wrongKind(option, path, wanted string, kinds ...string) error {
	kind := formats.Identify(path)
	if kind == formats.Unknown || slices.Contains(kinds, kind) {
		return nil
	}
	space := " "
	if strings.HasSuffix(option, "=") {
		space = ""
	}
	return wrongFile(fmt.Sprintf("%s%s%s: it is %s, not %s; %s", option, space, typed(path), formats.Name(kind), wanted, placeOf(kind)))
}

// A wrongFile is an error of a file that an option cannot use. It is no usage error: the
// engine reports the same for files that it must read to identify.
type wrongFile string

func (e wrongFile) Error() string { return string(e) }

// takeRecording sets the input to a recording named as a plain argument, before anything
// waits for standard input. The directory that perf record --threads makes is a recording.
func (o *options) takeRecording(fs *pflag.FlagSet) error {
	for i, name := range fs.Args() {
		if !isRecordingFile(name) || findCommand(name) != nil {
			continue
		}
		if fs.Changed("input") {
			return usageError(fmt.Sprintf("%s: only one recording is possible, and %s is named already; name the output with -o", typed(name), typed(o.input)))
		}
		o.recording = i + 1
		if err := fs.Set("input", name); err != nil {
			return usageError(err.Error())
		}
	}
	return nil
}

// isRecordingFile reports whether path names a recording.
func isRecordingFile(path string) bool {
	return formats.Identify(path) == formats.Recording || formats.Identify(filepath.Join(path, "data")) == formats.Recording
}

// placeOf says how files of a kind are named.
func placeOf(kind string) string {
	switch kind {
	case formats.Recording:
		return "name a recording with -i"
	case formats.Jitdump:
		return "jitinject finds it; to name it: --dump PID=FILE"
	case formats.Core:
		return "name it with --code-from"
	}
	if option, ok := kindOptions[kind]; ok && kind != formats.Unknown {
		return "name it with " + option
	}
	if formats.IsNamed(kind) {
		return "name it without an option"
	}
	return "name a file with code of the process with --code-from, the program of an XRay trace with --xray-binary"
}
