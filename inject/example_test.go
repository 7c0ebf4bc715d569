package inject_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/jitinject/jitinject/inject"
	"github.com/jitinject/jitinject/internal/testrec"
)

// The result of a recording of node, and its objects, in a directory. Its dump is beside
// the recording.
func ExampleRun() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	if err := testrec.UnpackTo("node-fp", dir); err != nil {
		fmt.Println(err)
		return
	}

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
