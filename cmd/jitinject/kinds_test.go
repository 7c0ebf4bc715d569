package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/testrec"
)

// Logs, traces and core dumps may stand alone: shells put several where a pattern was.
func TestArguments_FilesByKind(t *testing.T) {
	for _, c := range []struct {
		recording, args string
		dumps, traces   int
	}{
		{"mono", "app.mlpd", 1, 0},
		{"mono", "packed.mlpd", 1, 0},
		{"mono", "-o perf.jit.data app.mlpd", 1, 0},
		{"mono", "--mono app.mlpd app.mlpd", 1, 0},
		{"mono-core", "mono.core app.mlpd", 1, 0},
		{"mono-core", "--code-from mono.core mono.core", 1, 0},
		{"java-map", "java.core perf-27266.map", 1, 0},
		{"java-map", "--map 27266=perf-27266.map perf-27266.map java.core", 1, 0},
		{"java-map", "--dump 27266=perf-27266.map java.core", 1, 0},
		{"xray-tsc", "xray-log.calls", 0, 1},
		{"xray-tsc", "inject --xray xray-log.calls xray-log.calls.copy", 0, 1},
	} {
		dir := testrec.Place(t, c.recording)
		for from, to := range map[string]string{"app.mlpd": "packed.mlpd", "xray-log.calls": "xray-log.calls.copy"} {
			b, err := os.ReadFile(filepath.Join(dir, from))
			if err != nil {
				continue
			}
			if to == "packed.mlpd" {
				b = packed(t, b)
			}
			if err := os.WriteFile(filepath.Join(dir, to), b, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		code, stdout, stderr := command(t, dir, append(strings.Fields(c.args), "--summary", "json")...)
		var sum report.Summary
		if err := json.Unmarshal([]byte(stdout), &sum); err != nil || code != exitOK || len(sum.Dumps) != c.dumps || len(sum.Traces) != c.traces {
			t.Errorf("%s: exit code %d, %v, %d dumps, %d traces\n%s", c.args, code, err, len(sum.Dumps), len(sum.Traces), stderr)
		}
		if strings.Contains(c.args, ".core") && len(sum.Dumps) > 0 && sum.Dumps[0].Unwind.Derived == 0 {
			t.Errorf("%s: the core was not used\n%s", c.args, stderr)
		}
	}
}

func packed(t *testing.T, b []byte) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := gzip.NewWriter(&buf)
	w.Write(b)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// Captures may stand alone, or the directory that has them.
func TestArguments_Captures(t *testing.T) {
	vectors := testrec.Path("..", "internal", "format", "j9meta", "testdata")
	for _, args := range []string{
		"caps/a.bin", "caps/a.json", "caps/a.bin caps/b.bin", "caps", "caps/a.bin caps", "--j9 caps/a.bin caps/b.json", "--j9 caps", "--j9 %=caps", "inject --j9 %=caps/a.json",
	} {
		dir := testrec.Place(t, "node-hot")
		if err := os.Mkdir(filepath.Join(dir, "caps"), 0o755); err != nil {
			t.Fatal(err)
		}
		for _, ext := range []string{".bin", ".json"} {
			for to, from := range map[string]string{"a": "inline-216", "b": "plain-216"} {
				b, err := os.ReadFile(filepath.Join(vectors, from+ext))
				if err == nil {
					err = os.WriteFile(filepath.Join(dir, "caps", to+ext), b, 0o600)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
		}
		pid := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(testrec.Dumps(t, dir)[0]), "jit-"), ".dump")
		code, stdout, stderr := command(t, dir, append(strings.Fields(strings.ReplaceAll(args, "%", pid)), "--summary", "json")...)
		var sum report.Summary
		if err := json.Unmarshal([]byte(stdout), &sum); err != nil {
			t.Errorf("%s: exit code %d, %v\n%s", args, code, err, stderr)
			continue
		}
		// Of the vectors, nobody knows whose they are, unless it is said.
		all := len(sum.Dumps)
		for _, p := range sum.Problems {
			if strings.Contains(p.File, "caps") {
				all++
			}
		}
		if all < 2 {
			t.Errorf("%s: the captures were not read: exit code %d\n%s", args, code, stderr)
		}
	}
}

// What is known to be something else than an option takes is refused by name.
func TestArguments_WrongKind(t *testing.T) {
	dir := testrec.Place(t, "mono-core")
	for name, text := range map[string]string{
		"xray-log.x": "\x05\x00\x01\x00\x03\x00\x00\x00", "jit-1.dump": "DTiJ....", "swapped.dump": "JiTD....", "other.data": "2ELIFREP", "text.txt": "1 2 3",
		"old.gz": "\x1f\x8bno", "prog": "\x7fELF\x01\x02\x01" + strings.Repeat("\x00", 9) + "\x00\x02", "core.be": "\x7fELF\x01\x02\x01" + strings.Repeat("\x00", 9) + "\x00\x04",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"a.bin": "some bytes", "a.json": `{"base": 1, "startPC": 2}`, "alone.bin": "some bytes", "half.bin": "some bytes", "half.json": "{", "lone.json": "{}"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for args, want := range map[string]string{
		"--mono a.bin":               "--mono a.bin: it is a capture of OpenJ9's metadata, not a log of Mono's profiler; name it with --j9",
		"-i a.json":                  "-i a.json: it is a capture of OpenJ9's metadata, not a recording; name it with --j9",
		"--j9 app.mlpd":              "--j9 app.mlpd: it is a log of Mono's profiler, not a capture of OpenJ9's metadata; name it with --mono",
		"--j9 7=perf.data":           "--j9 7=perf.data: it is a recording, not a capture of OpenJ9's metadata; name a recording with -i",
		"--j9 7=":                    "--j9 7=: it takes FILE or PID=FILE",
		"alone.bin":                  "alone.bin: a capture of OpenJ9's metadata needs alone.json in the same directory, which is missing",
		"-i perf.data lone.json":     "lone.json: a capture of OpenJ9's metadata needs lone.bin in the same directory, which is missing",
		"-i perf.data nothing.bin":   "there is no file nothing.bin; to name the result: jitinject -o nothing.bin",
		"-i half.bin":                "-i half.bin: it is a capture of OpenJ9's metadata, not a recording",
		"--xray app.mlpd":            "--xray app.mlpd: it is a log of Mono's profiler, not an XRay trace; name it with --mono",
		"-i app.mlpd":                "-i app.mlpd: it is a log of Mono's profiler, not a recording; name it with --mono",
		"-i mono.core":               "-i mono.core: it is a core dump, not a recording; name it with --code-from",
		"-i swapped.dump":            "-i swapped.dump: it is a jitdump, not a recording; jitinject finds it; to name it: --dump PID=FILE",
		"--code-from app.mlpd":       "--code-from app.mlpd: it is a log of Mono's profiler, not a core dump or a file that was mapped; name it with --mono",
		"--mono xray-log.x":          "--mono xray-log.x: it is an XRay trace, not a log of Mono's profiler; name it with --xray",
		"--mono 7=core.be":           "--mono 7=core.be: it is a core dump, not a log of Mono's profiler; name it with --code-from",
		"--dump 1=xray-log.x":        "--dump 1=xray-log.x: it is an XRay trace, not a dump; name it with --xray",
		"--dump 1=other.data":        "--dump 1=other.data: it is a recording, not a dump; name a recording with -i",
		"--xray prog":                "--xray prog: it is an ELF file, not an XRay trace; name a file with code of the process with --code-from, the program of an XRay trace with --xray-binary",
		"jit-1.dump":                 "jit-1.dump is a jitdump: jitinject finds it; to name it: --dump PID=FILE",
		"app.mlpd prog":              "prog is an ELF file: name a file with code",
		"app.mlpd other.data":        "other.data: not a perf.data file: it has only 8 bytes",
		"-i perf.data other.data":    "other.data: only one recording is possible, and perf.data is named already; name the output with -o",
		"perf.data other.data":       "other.data: only one recording is possible, and perf.data is named already",
		"--mono text.txt":            "--mono text.txt: not a log of Mono's profiler",
		"--j9 text.txt":              "--j9 text.txt: it is no capture of OpenJ9's metadata",
		"--xray text.txt":            "--xray text.txt: not an XRay flight data recorder trace",
		"--code-from text.txt":       "--code-from text.txt: it is neither a core dump nor another ELF file; name a core dump of the process, or a file that it had mapped",
		"--code-from old.gz":         "--code-from old.gz: it is compressed; unpack it with gzip -d",
		"--mono nope":                "--mono nope: there is no such file",
		"--xray nope":                "--xray nope: there is no such file",
		"--code-from nope":           "--code-from nope: there is no such file",
		"-i perf.data app.mlpd x":    "there is no file x; to name the result: jitinject -o x",
		"old.gz":                     "old.gz is compressed; unpack it with gzip -d",
		"--mono app.mlpd text.txt":   "text.txt has an unknown type",
		"--mono app.mlpd clean":      "clean is a command and must come before all options",
		"--code-from mono.core nope": "there is no file nope",
	} {
		code, _, stderr := command(t, dir, strings.Fields(args)...)
		// A usage error is another error than a file that cannot be used.
		wantCode := exitFailed
		for _, usage := range []string{"there is no file", "it takes FILE", "has an unknown type", "gz is compressed", "a capture of OpenJ9's metadata needs", "one recording", "is a command", ": jitinject finds it", "prog is an ELF file: "} {
			if strings.Contains(want, usage) && !strings.Contains(want, "not a ") {
				wantCode = exitUsage
			}
		}
		if code != wantCode || !strings.Contains(stderr, want) {
			t.Errorf("%q: exit code %d, want %d and %q:\n%s", args, code, wantCode, want, stderr)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "perf.jit.data")); err == nil {
		t.Error("there is a result")
	}
}

// A recording may be the only argument, in all its forms; standard input is not read then.
func TestArguments_RecordingInEveryForm(t *testing.T) {
	for _, c := range []struct{ recording, args string }{
		{"node-hot", "perf.data"},
		{"node-hot", "inject perf.data"},
		{"node-hot", "-o perf.jit.data perf.data --no-count"},
		{"node-threads", "perf.data.dir"},
		{"mono", "app.mlpd perf.data"},
		{"mono", "perf.data --mono app.mlpd"},
	} {
		dir := testrec.Unpack(t, c.recording)
		code, stdout, stderr := command(t, dir, append(strings.Fields(c.args), "--summary", "json")...)
		var sum report.Summary
		if err := json.Unmarshal([]byte(stdout), &sum); err != nil || code != exitOK || len(sum.Dumps) != 1 || !strings.Contains(c.args, sum.Input) {
			t.Errorf("%s: exit code %d, %v, input %q, %d dumps\n%s", c.args, code, err, sum.Input, len(sum.Dumps), stderr)
		}
	}
}
