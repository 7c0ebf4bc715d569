package engine_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/engine"
	"github.com/jitinject/jitinject/internal/formats"
	"github.com/jitinject/jitinject/internal/testrec"
)

// monoProgram says its number when it has worked, and waits for somebody to say something.
const monoProgram = `
using System;
using System.Threading;
class App {
    static int Hot(int n) { int s = 0; for (int i = 0; i < n; i++) s += (i ^ s) % 7; return s; }
    static int Work(int n) { int t = 0; for (int i = 0; i < n; i++) t += Hot(100000); return t; }
    static void Main() {
        var other = new Thread(() => Work(1000));
        other.Start();
        int t = Work(1000);
        other.Join();
        Console.WriteLine(System.Diagnostics.Process.GetCurrentProcess().Id);
        Console.Out.Flush();
        Console.ReadLine();
    }
}`

// A program of Mono is recorded with its log, and gdb makes a core while it runs: the hot
// method has its name, its instructions and its callers.
func TestCodeFrom_FreshMonoAndGcore(t *testing.T) {
	for _, tool := range []string{"mono", "mcs", "gcore"} { // of mono-runtime, mono-mcs, gdb
		testrec.Tool(t, tool)
	}
	testrec.CanRecord(t)
	perf, objdump := testrec.Tool(t, "perf"), testrec.Tool(t, "objdump")
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "app.cs"), []byte(monoProgram), 0o600); err != nil {
		t.Fatal(err)
	}
	testrec.Run(t, dir, "mcs", "app.cs", "-out:App.exe")
	cmd := testrec.Command(t, dir, perf, "record", "-q", "-e", "cpu-clock:u", "-F", "499", "-k", "mono", "--call-graph", "dwarf,4096", "-o", "perf.data",
		"mono", "--profile=log:nodefaults,jit,output=app.mlpd", "App.exe")
	cmd.Stderr = os.Stderr
	stdin, stdout := testrec.Start(t, cmd)
	late := time.AfterFunc(time.Minute, func() { cmd.Process.Kill() })
	defer late.Stop()
	line, _ := bufio.NewReader(stdout).ReadString('\n')
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	var out []byte
	if err == nil {
		out, err = testrec.Command(t, dir, "gcore", "-o", "core", strconv.Itoa(pid)).CombinedOutput()
	}
	stdin.Close()
	if waited := cmd.Wait(); waited != nil {
		t.Fatalf("unexpected error: %v", waited)
	}
	core := filepath.Join(dir, fmt.Sprintf("core.%d", pid))
	if _, missing := os.Stat(core); err != nil || missing != nil {
		testrec.Skip(t, "gcore makes no core here: %v\n%s", err, out)
	}
	opts := config.Options{Input: filepath.Join(dir, "perf.data"), Output: filepath.Join(dir, "out.data"), Objects: filepath.Join(dir, "objects"),
		SideFiles: []config.SideFile{{Kind: formats.Mono, Path: filepath.Join(dir, "app.mlpd")}}, CodeFrom: []string{core}, Bundle: true}
	sum, err := engine.Run(context.Background(), opts)
	if err != nil || !sum.Complete() || sum.Dumps[0].PID != uint32(pid) {
		t.Fatalf("got %s, %v; want no error, nothing missing, Dumps[0].PID = %v", asJSON(sum), err, uint32(pid))
	}
	if s := sum.Samples; s.InJIT < 100 || s.Resolved*100 < s.InJIT*95 {
		t.Errorf("%d of %d samples in jitted code have a function", s.Resolved, s.InJIT)
	}
	if d := sum.Dumps[0]; d.WithoutCode > (d.Functions-d.InImages)/10 {
		t.Errorf("%d of %d functions are without code", d.WithoutCode, d.Functions-d.InImages)
	}
	for version, perf := range testrec.Perfs(t) {
		args := []string{"annotate", "--stdio", "-f", "--objdump=" + objdump, "-i", opts.Output, "-s", hotMethod}
		if strings.HasPrefix(version, "6.12") {
			args = append(args, "--asm-raw") // or it crashes at a branch out of a file
		}
		annotated := testrec.Run(t, dir, perf, args...)
		if found := instruction.FindAllStringSubmatch(annotated, -1); len(found) < 10 || !strings.Contains(annotated, "idiv") {
			t.Errorf("perf %s annotate shows\n%s", version, annotated)
		}
		samples, called := 0, 0
		for _, s := range strings.Split(testrec.Run(t, dir, perf, "script", "-f", "--no-inline", "-i", opts.Output, "-F", "comm,tid,ip,sym"), "\n\n") {
			if strings.Contains(s, hotMethod) {
				samples++
				if strings.Contains(s, "App:Work (int)") {
					called++
				}
			}
		}
		if samples < 100 || called*100 < samples*95 {
			t.Errorf("perf %s: %d of %d samples have their caller", version, called, samples)
		}
	}
}
