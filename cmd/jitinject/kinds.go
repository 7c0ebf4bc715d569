package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	engine "github.com/jitinject/jitinject/inject"
)

// Files are named with options or as plain arguments. Recordings, Mono logs, XRay traces
// and core dumps are known by their first bytes. Captures of OpenJ9's metadata are known by
// the file beside them. So a shell pattern may follow an option that takes one file: --xray
// xray-log.app.*
// shell may stand behind an option that takes one file: --xray xray-log.app.*

// goesAlong reports whether a file can be named without an option.
func goesAlong(kind engine.FileKind) bool {
	return kind == engine.FileMonoLog || kind == engine.FileXRay || kind == engine.FileJ9 || kind == engine.FileCore
}

// takeFiles takes in the files that stand alone. The first that cannot is an error.
func (o *options) takeFiles(fs *pflag.FlagSet) error {
	for i, name := range fs.Args() {
		if findCommand(name) != nil {
			return strayWord(name, fs.Changed("input"))
		}
		if i+1 == o.recording {
			continue
		}
		switch engine.SniffFile(name) {
		case engine.FileMonoLog:
			o.logs = append(o.logs, engine.NamedDump{Path: name})
		case engine.FileXRay:
			o.xray = append(o.xray, name)
		case engine.FileJ9:
			o.captures = append(o.captures, engine.NamedDump{Path: name})
		case engine.FileCore:
			o.codeFrom = append(o.codeFrom, name)
		default:
			if engine.HasCaptures(name) {
				o.captures = append(o.captures, engine.NamedDump{Path: name})
				continue
			}
			return strayWord(name, fs.Changed("input"))
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
	if st, err := os.Stat(path); err != nil || !st.Mode().IsRegular() {
		return ""
	}
	if _, err := os.Lstat(other); !errors.Is(err, os.ErrNotExist) {
		return ""
	}
	return other
}

// checkKinds refuses files that are known to be something else than what their option takes.
func (o *options) checkKinds() error {
	const aDump, aLog, aTrace, code = "a dump", "a log of Mono's profiler", "an XRay trace", "a core dump or a file that was mapped"
	if err := wrongKind("-i", o.input, "a recording", engine.FileRecording); err != nil {
		return err
	}
	for _, d := range o.named {
		// A Mono log is one, too.
		if err := wrongKind(fmt.Sprintf("--dump %d=", d.PID), d.Path, aDump, engine.FileJitdump, engine.FileMonoLog); err != nil {
			return err
		}
	}
	for _, l := range o.logs {
		option := "--mono"
		if l.PID != 0 {
			option = fmt.Sprintf("--mono %d=", l.PID)
		}
		if err := wrongKind(option, l.Path, aLog, engine.FileMonoLog); err != nil {
			return err
		}
	}
	for _, c := range o.captures {
		option := "--j9"
		if c.PID != 0 {
			option = fmt.Sprintf("--j9 %d=", c.PID)
		}
		if err := wrongKind(option, c.Path, "a capture of OpenJ9's metadata", engine.FileJ9); err != nil {
			return err
		}
	}
	for _, path := range o.xray {
		if err := wrongKind("--xray", path, aTrace, engine.FileXRay); err != nil {
			return err
		}
	}
	for _, path := range o.codeFrom {
		if err := wrongKind("--code-from", path, code, engine.FileCore, engine.FileELF); err != nil {
			return err
		}
	}
	return nil
}

// wrongKind is the error for a file that an option does not take, or nil.
func wrongKind(option, path, wanted string, kinds ...engine.FileKind) error {
	kind := engine.SniffFile(path)
	if kind == engine.FileUnknown || slices.Contains(kinds, kind) {
		return nil
	}
	space := " "
	if strings.HasSuffix(option, "=") {
		space = ""
	}
	return wrongFile(fmt.Sprintf("%s%s%s: it is %s, not %s; %s", option, space, typed(path), kind, wanted, placeOf(kind)))
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
	return engine.SniffFile(path) == engine.FileRecording || engine.SniffFile(filepath.Join(path, "data")) == engine.FileRecording
}

// placeOf says how files of a kind are named.
func placeOf(kind engine.FileKind) string {
	switch kind {
	case engine.FileRecording:
		return "recordings are named with -i"
	case engine.FileJitdump:
		return "it is found by itself, or named with its process: --dump PID=FILE"
	case engine.FileMonoLog:
		return "name it with --mono"
	case engine.FileXRay:
		return "name it with --xray"
	case engine.FileJ9:
		return "name it with --j9"
	case engine.FileCore:
		return "name it with --code-from"
	}
	return "one that has code of the process is named with --code-from, the program of an XRay trace with --xray-binary"
}
