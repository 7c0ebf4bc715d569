package inject_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/jitinject/jitinject/inject"
	"github.com/jitinject/jitinject/internal/testrec"
)

// recorded returns a directory with a recording of tests, perf.data, and what its runtime wrote.
func recorded(name string) (dir string, remove func()) {
	dir, err := os.MkdirTemp("", "")
	if err == nil {
		err = testrec.UnpackTo(name, dir)
	}
	if err != nil {
		fmt.Println(err)
	}
	return dir, func() { os.RemoveAll(dir) }
}

// The result of a recording of node, and its objects, in a directory. Its dump is beside
// the recording.
func ExampleRun() {
	dir, remove := recorded("node-fp")
	defer remove()

	sum, err := inject.Run(context.Background(), inject.Options{
		Input:   filepath.Join(dir, "perf.data"),
		Output:  filepath.Join(dir, "perf.jit.data"),
		Objects: filepath.Join(dir, "objects"),
	})
	if err != nil {
		fmt.Println(err) // there is no result
		return
	}
	for _, problem := range sum.Problems {
		fmt.Println(problem) // the result is there, but something is missing in it
	}
	for _, d := range sum.Dumps {
		fmt.Println("process", d.PID, "has", filepath.Base(d.Path))
	}
	fmt.Println(sum.Objects, "objects,", sum.Mappings, "mappings")
	// Output:
	// process 9906 has jit-9906.dump
	// 2464 objects, 2464 mappings
}

// A service wants to know what a recording lacks before it keeps it. With Preview, a run makes no
// file.
func ExampleOptions_preview() {
	dir, remove := recorded("node-fp")
	defer remove()
	inject.NameSettings(func(s inject.Setting) string { return "the setting " + s.Field }) // a program's own names
	defer inject.NameSettings(nil)
	os.Remove(filepath.Join(dir, "jit-9906.dump")) // somebody has copied only the recording

	sum, err := inject.Run(context.Background(), inject.Options{Input: filepath.Join(dir, "perf.data"), Preview: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, p := range sum.Problems {
		fmt.Println("missing:", strings.ReplaceAll(p.Text, dir, "DIR"))
		fmt.Println("advice:", p.Advice)
	}
	for _, d := range sum.Dumps {
		if d.Cut >= 0 { // killed programs leave such dumps: no problem, but functions may be missing
			fmt.Println(d.Path, d.CutText())
		}
	}
	fmt.Println(sum.Samples.WithoutDump, "samples are in no file and in no dump")
	// Output:
	// missing: process 9906: its dump /tmp/rec/node-fp/jit-9906.dump is gone: neither there nor in DIR
	// advice: if you have it, name its directory with the setting DumpDirs
	// 284 samples are in no file and in no dump
}

// The functions that a program spends its time in, without perf report.
func ExampleHottest() {
	dir, remove := recorded("node-fp")
	defer remove()

	sum, err := inject.Run(context.Background(), inject.Options{Input: filepath.Join(dir, "perf.data"), Preview: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range sum.Hottest.Functions {
		place := "no source"
		if f.Line > 0 {
			place = fmt.Sprintf("%s:%d", filepath.Base(f.File), f.Line)
		}
		fmt.Printf("%.1f %% %s (%s), %s\n", 100*f.Share, f.Name, f.Tier, place)
	}
	// Output:
	// 27.8 % (anonymous) (optimized), prog.js:1
	// 0.1 % BytecodeHandler:LdaSmi (interpreter), no source
}

// A display of its own for a long run: it asks for the state now and then.
func ExampleProgress() {
	dir, remove := recorded("node-fp")
	defer remove()

	var progress inject.Progress
	done := make(chan error)
	go func() {
		_, err := inject.Run(context.Background(), inject.Options{
			Input:    filepath.Join(dir, "perf.data"),
			Output:   filepath.Join(dir, "perf.jit.data"),
			Objects:  filepath.Join(dir, "objects"),
			Progress: &progress,
		})
		done <- err
	}()
	ticks := time.NewTicker(100 * time.Millisecond)
	defer ticks.Stop()
	for {
		select {
		case <-ticks.C:
			if s := progress.State(); s.Phase.IsCounted() && s.Total > 0 {
				fmt.Fprintf(os.Stderr, "\r%s: %d %%", s.Phase, 100*s.Done/s.Total)
			}
		case err := <-done:
			fmt.Println("finished:", progress.Finished(), err)
			return
		}
	}
	// Output: finished: true <nil>
}
