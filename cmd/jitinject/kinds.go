package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
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

// takeNamed takes in the side files that options name. The first name that is none is an error.
func (o *options) takeNamed() error {
	for _, d := range o.dumps {
		f := namedFile(d)
		if f.Path == "" || f.Path == d {
			return usageError(fmt.Sprintf("--dump %s: it takes PID=FILE, a process of the recording and its dump", d))
		}
		if slices.ContainsFunc(o.SideFiles, func(other config.SideFile) bool { return other.PID == f.PID }) {
			return usageError(fmt.Sprintf("--dump %s: a dump of process %d was named already", d, f.PID))
		}
		o.SideFiles = append(o.SideFiles, f)
	}
	for _, named := range []struct {
		kind, more string
		args       []string
	}{{formats.Mono, "", o.mono}, {formats.XRay, "", o.xray}, {formats.J9, " or a directory of them", o.j9}, {formats.PerfMap, "", o.perfMaps}} {
		for _, arg := range named.args {
			f := config.SideFile{Path: arg}
			if named.kind != formats.XRay {
				f = namedFile(arg)
			}
			if f.Path == "" {
				return usageError(fmt.Sprintf("%s %s: it takes FILE or PID=FILE, %s%s", kindOptions[named.kind], typed(arg), formats.Name(named.kind), named.more))
			}
			f.Kind = named.kind
			o.SideFiles = append(o.SideFiles, f)
		}
	}
	return nil
}

// namedFile reads [PID=]FILE.
func namedFile(arg string) config.SideFile {
	if pid, file, ok := strings.Cut(arg, "="); ok {
		if n, err := strconv.ParseUint(pid, 10, 32); err == nil {
			return config.SideFile{PID: uint32(n), Path: file}
		}
	}
	return config.SideFile{Path: arg}
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
			o.CodeFrom = append(o.CodeFrom, name)
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
	if err := wrongKind("-i", o.Input, "a recording", formats.Recording); err != nil {
		return err
	}
	for _, f := range o.SideFiles {
		option, wanted, kinds := kindOptions[f.Kind], formats.Name(f.Kind), []string{f.Kind}
		if f.Kind == config.AnyDump { // Mono logs and perf maps are dumps, too
			wanted, kinds = "a dump", []string{formats.Jitdump, formats.Mono, formats.PerfMap}
		}
		if f.PID != 0 || f.Kind == config.AnyDump {
			option += fmt.Sprintf(" %d=", f.PID)
		}
		if err := wrongKind(option, f.Path, wanted, kinds...); err != nil {
			return err
		}
	}
	for _, path := range o.CodeFrom {
		if err := wrongKind("--code-from", path, "a core dump or a file that was mapped", formats.Core, formats.ELF); err != nil {
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
			return usageError(fmt.Sprintf("%s: only one recording is possible, and %s is named already; name the output with -o", typed(name), typed(o.Input)))
		}
		o.recording = i + 1
		if err := fs.Set("input", name); err != nil {
			return usageError(err.Error())
		}
	}
	return nil
}

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
