package engine_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/engine"
	"github.com/jitinject/jitinject/internal/formats"
	"github.com/jitinject/jitinject/internal/testrec"
)

// Maps of real programs.

// mapPlace is where perf looks for the map of a process. Tests have a /tmp of their own.
func mapPlace(t *testing.T, pid string, content []byte) (remove func()) {
	t.Helper()
	path := "/tmp/perf-" + pid + ".map"
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return func() { os.Remove(path) }
}

// leading is the address before a name. perf 6 shows that of the file.
var leading = regexp.MustCompile(`(?m)^\s+[0-9a-f]+ `)

// mapNames returns the names of all samples and their callers, as perf shows them.
func mapNames(t *testing.T, dir, perf, file string, more ...string) []string {
	t.Helper()
	args := append([]string{"script", "-f", "--no-inline", "-F", "tid,time,ip,sym", "-i", file}, more...)
	return strings.Split(leading.ReplaceAllString(testrec.Run(t, dir, perf, args...), " "), "\n")
}

// sameAsMap checks that perf shows the same names in a result, without the map, as in its
// recording with it.
func sameAsMap(t *testing.T, dir, pid, input, output string, least int, more ...string) {
	t.Helper()
	content := read(t, filepath.Join(dir, "perf-"+pid+".map"))
	for version, perf := range testrec.Perfs(t) {
		remove := mapPlace(t, pid, content)
		want := mapNames(t, dir, perf, input, more...)
		remove()
		got := mapNames(t, dir, perf, output, more...)
		if len(got) != len(want) || len(got) < least {
			t.Errorf("perf %s: got %d lines; want %d, and at least %d", version, len(got), len(want), least)
			continue
		}
		differ := 0
		for i := range want {
			if got[i] != want[i] {
				if differ++; differ <= 5 {
					t.Errorf("perf %s: got %q; want %q", version, got[i], want[i])
				}
			}
		}
	}
}

// A recording of the JDK with a map that jcmd wrote. A core has the code.
func TestPerfMap_RecordedJava(t *testing.T) {
	dir := testrec.Unpack(t, "java-map")
	const pid = "27266"
	opts := config.Options{Input: filepath.Join(dir, "perf.data"), Output: filepath.Join(dir, "out.data"), Objects: filepath.Join(dir, "objects"), CFI: config.CFINever}
	sum, err := engine.Run(t.Context(), opts)
	if err != nil || !sum.Complete() || len(sum.Dumps) != 1 {
		t.Fatalf("got %s, %v; want no error, nothing missing, 1 map", asJSON(sum), err)
	}
	if d := sum.Dumps[0]; d.Kind != formats.PerfMap || d.Functions != 481 || d.WithoutCode != 481 || d.Samples.InJIT != 605 || d.Samples.Resolved != 604 {
		t.Errorf("got %s; want 481 functions without code, 604 of 605 samples in them", asJSON(sum))
	}
	sameAsMap(t, dir, pid, opts.Input, opts.Output, 600, "-G") // perf cannot unwind without code
	// On another machine, with what perf archive packs: neither the map nor the objects.
	away := opts
	away.Output, away.Objects, away.BuildIDCache = filepath.Join(dir, "away.data"), filepath.Join(dir, "gone"), filepath.Join(dir, ".debug")
	if sum, err := engine.Run(t.Context(), away); err != nil || !sum.Complete() || sum.Cached != sum.Objects {
		t.Fatalf("got %s, %v; want no error, nothing missing, all objects in the cache", asJSON(sum), err)
	}
	if err := os.RemoveAll(away.Objects); err != nil {
		t.Fatal(err)
	}
	sameAsMap(t, dir, pid, opts.Input, away.Output, 600, "-G")
	for _, layout := range layouts {
		more := opts
		more.Bundle, more.Sampled, more.Output, more.Objects = layout.bundle, layout.sampled, filepath.Join(dir, layout.name+".data"), filepath.Join(dir, layout.name)
		if sum, err := engine.Run(t.Context(), more); err != nil || !sum.Complete() {
			t.Fatalf("%s: got %s, %v; want no error, nothing missing", layout.name, asJSON(sum), err)
		}
		sameAsMap(t, dir, pid, more.Input, more.Output, 600, "-G")
	}
}

// With the core, perf shows instructions, and unwinds stacks through all jitted code.
func TestPerfMap_CodeFromCore(t *testing.T) {
	dir := testrec.Unpack(t, "java-map")
	objdump := testrec.Tool(t, "objdump")
	opts := config.Options{Input: filepath.Join(dir, "perf.data"), Output: filepath.Join(dir, "out.data"), Objects: filepath.Join(dir, "objects"), CodeFrom: []string{filepath.Join(dir, "java.core")}}
	sum, err := engine.Run(t.Context(), opts)
	if err != nil || !sum.Complete() {
		t.Fatalf("got %s, %v; want no error, nothing missing", asJSON(sum), err)
	}
	if d := sum.Dumps[0]; d.CodeFiles != 1 || d.WithoutCode != 0 || d.Unwind.Derived < 470 {
		t.Errorf("got %s; want the code of all functions, and unwind tables", asJSON(sum))
	}
	sameAsMap(t, dir, "27266", opts.Input, opts.Output, 600, "-G")
	for version, perf := range testrec.Perfs(t) {
		annotated := testrec.Run(t, dir, perf, "annotate", "--stdio", "-f", "--objdump="+objdump, "-i", opts.Output, "-s", "int Hot.fib(int)")
		if found := instruction.FindAllStringSubmatch(annotated, -1); len(found) < 20 || !strings.Contains(annotated, "-0x14000(%rsp)") {
			t.Errorf("perf %s annotate shows\n%s", version, annotated)
		}
		samples, called := 0, 0
		for _, s := range strings.Split(testrec.Run(t, dir, perf, "script", "-f", "--no-inline", "-i", opts.Output, "-F", "comm,tid,ip,sym"), "\n\n") {
			if strings.Contains(s, "int Hot.fib(int)") {
				samples++
				if strings.Contains(s, "StubRoutines (1)") { // through which the JVM calls main, interpreted or not
					called++
				}
			}
		}
		if samples < 200 || called*100 < samples*95 {
			t.Errorf("perf %s: %d of %d stacks reach the start of the program", version, called, samples)
		}
	}
}

// runtimes that write maps while they run, with a program that takes a second
var mapWriters = []struct {
	tool, file, program string
	args                []string
	least               int64 // samples in its code
}{
	{"node", "prog.js", nodeProgram, []string{"--perf-basic-prof", "--interpreted-frames-native-stack"}, 50},
	{"php", "prog.php", phpMapProgram, []string{"-d", "opcache.enable_cli=1", "-d", "opcache.file_update_protection=0", "-d", "opcache.jit_buffer_size=16M", "-d", "opcache.jit=tracing", "-d", "opcache.jit_debug=16"}, 50},
	{"java", "Main.java", javaMapProgram, []string{"-XX:+UnlockDiagnosticVMOptions", "-XX:+DumpPerfMapAtExit", "-XX:+PreserveFramePointer", "-XX:+UseSerialGC"}, 50},
}

const phpMapProgram = `<?php
function inner(int $n): int { $s = 0; for ($i = 0; $i < 1000; $i++) { $s = ($s * 31 + $n + $i) & 0xffffff; } return $s; }
$end = microtime(true) + 1.5; $s = 0;
while (microtime(true) < $end) { for ($i = 0; $i < 100; $i++) { $s ^= inner($i); } }
echo $s, "\n";
`

const javaMapProgram = `
public class Main {
    static int inner(int n) { int s = 0; for (int i = 0; i < 1000; i++) s = s * 31 + n + i; return s; }
    public static void main(String[] args) {
        long end = System.currentTimeMillis() + 1500; int s = 0;
        while (System.currentTimeMillis() < end) s ^= inner(s);
        System.out.println(s);
    }
}
`

// Maps of today's runtimes: the result has the names that perf has with the map, and keeps them
// when the map is gone.
func TestPerfMap_FreshRuntimes(t *testing.T) {
	testrec.Fresh(t)
	for _, c := range mapWriters {
		t.Run(c.tool, func(t *testing.T) {
			tool := testrec.Tool(t, c.tool)
			dir := t.TempDir()
			program(t, dir, c.file, c.program)
			record(t, dir, nil, append(append([]string{tool}, c.args...), c.file)...)
			opts := config.Options{Input: filepath.Join(dir, "perf.data"), Output: filepath.Join(dir, "out.data"), Objects: filepath.Join(dir, "objects")}
			sum, err := engine.Run(t.Context(), opts)
			if err != nil || !sum.Complete() || len(sum.Dumps) != 1 || sum.Dumps[0].Kind != formats.PerfMap {
				t.Fatalf("got %s, %v; want no error, nothing missing, 1 map", asJSON(sum), err)
			}
			d := sum.Dumps[0]
			t.Logf("%d of %d samples, %d functions, %d in files, %d elsewhere, %d overwritten", d.Samples.Resolved, d.Samples.InJIT, d.Functions, d.InImages, d.Elsewhere, d.Overwritten)
			if d.Samples.Resolved < c.least {
				t.Errorf("got %d samples in functions; want at least %d", d.Samples.Resolved, c.least)
			}
			pid := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(d.Path), "perf-"), ".map")
			if err := os.WriteFile(filepath.Join(dir, "perf-"+pid+".map"), read(t, d.Path), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Remove(d.Path); err != nil {
				t.Fatal(err)
			}
			sameAsMap(t, dir, pid, opts.Input, opts.Output, int(c.least))
		})
	}
}

// The map of a running container is in the container's /tmp, under the pid in its namespace.
func TestPerfMap_RunningContainer(t *testing.T) {
	testrec.CanRecord(t)
	unshare, node := unshare(t), testrec.Tool(t, "node")
	dir := t.TempDir()
	program(t, dir, "prog.js", "const end = Date.now() + 2000; let told = false;\n"+
		"function inner(x) { let s = 0; for (let i = 0; i < 300; i++) s = (s * 31 + x + i) | 0; return s; }\n"+
		"for (let s = 0; ; s += inner(s)) if (!told && Date.now() > end) { console.log('ready'); told = true; }\n")
	startProcess(t, dir, 1, unshare, "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", "mount -t tmpfs none /tmp; exec "+node+" --perf-basic-prof "+filepath.Join(dir, "prog.js"))
	perf := testrec.Tool(t, "perf")
	testrec.Run(t, dir, perf, "record", "-q", "-e", "cpu-clock", "-F", "499", "-k", "mono", "-g", "-a", "-o", "perf.data", "sleep", "2")
	sum, err := engine.Run(t.Context(), config.Options{Input: filepath.Join(dir, "perf.data"), Output: filepath.Join(dir, "out.data"), Objects: filepath.Join(dir, "objects")})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range sum.Dumps {
		if d.Kind == formats.PerfMap && isDescendant(t, d.PID) {
			if !strings.HasPrefix(d.Path, "/proc/") || !strings.HasSuffix(d.Path, "/tmp/perf-1.map") || d.Samples.Resolved < 20 || d.Samples.Resolved*100 < d.Samples.InJIT*95 {
				t.Errorf("got %s; want samples in functions of the container's map", asJSON(sum))
			}
			return
		}
	}
	t.Errorf("got %s; want the map of the container", asJSON(sum))
}

var (
	mappedMethod = regexp.MustCompile(`(\S+)\(`)             // in a name of the JDK's map: its class and name
	dumpedMethod = regexp.MustCompile(`^([^\s(]+)\([^ ]*\)`) // in one of the agent's
)

// The JDK's map and the agent's dump of one run name the same methods.
func TestPerfMap_SameAsJavaAgent(t *testing.T) {
	testrec.Fresh(t)
	agent := javaAgent(t)
	dir := t.TempDir()
	program(t, dir, "Main.java", javaMapProgram)
	testrec.Run(t, dir, testrec.Tool(t, "javac"), "Main.java")
	record(t, dir, nil, testrec.Tool(t, "java"), "-agentpath:"+agent+"=dir="+dir, "-XX:+UnlockDiagnosticVMOptions", "-XX:+DumpPerfMapAtExit", "-XX:+PreserveFramePointer", "-XX:+UseSerialGC", "-cp", dir, "Main")
	opts := config.Options{Input: filepath.Join(dir, "perf.data"), Output: filepath.Join(dir, "dump.data"), Objects: filepath.Join(dir, "dumped")}
	sum, err := engine.Run(t.Context(), opts)
	if err != nil || !sum.Complete() || len(sum.Dumps) != 1 || sum.Dumps[0].Kind != formats.Jitdump {
		t.Fatalf("got %s, %v; want the dump, which comes before the map", asJSON(sum), err)
	}
	if err := os.Remove(sum.Dumps[0].Path); err != nil {
		t.Fatal(err)
	}
	opts.Output, opts.Objects = filepath.Join(dir, "map.data"), filepath.Join(dir, "mapped")
	path := fmt.Sprintf("/tmp/perf-%d.map", sum.Dumps[0].PID)
	opts.SideFiles = []config.SideFile{{Kind: formats.PerfMap, Path: path}}
	if sum, err = engine.Run(t.Context(), opts); err != nil || len(sum.Problems) != 1 || len(sum.Dumps) != 1 || sum.Dumps[0].Kind != formats.PerfMap {
		t.Fatalf("got %s, %v; want the map, and the dump missing", asJSON(sum), err)
	}
	perf := testrec.Tool(t, "perf")
	dumped, mapped := mapNames(t, dir, perf, "dump.data", "-G"), mapNames(t, dir, perf, "map.data", "-G")
	if len(dumped) != len(mapped) {
		t.Fatalf("got %d lines; want %d", len(mapped), len(dumped))
	}
	methods, same := 0, 0
	for i := range dumped {
		_, want, _ := strings.Cut(dumped[i], ": ")
		_, got, _ := strings.Cut(mapped[i], ": ")
		w, g := dumpedMethod.FindStringSubmatch(afterAddress(want)), mappedMethod.FindStringSubmatch(got)
		if w == nil || !strings.Contains(afterAddress(got), "(") {
			continue
		}
		if methods++; g != nil && g[1] == w[1] {
			same++
		} else {
			t.Errorf("got %q; want the method in %q", got, want)
		}
	}
	t.Logf("%d of %d samples in methods have the same name", same, methods)
	if methods < 100 {
		t.Errorf("got %d samples in methods; want at least 100", methods)
	}
}

// afterAddress returns a name that perf shows after its address.
func afterAddress(shown string) string {
	_, name, _ := strings.Cut(strings.TrimSpace(shown), " ")
	return name
}
