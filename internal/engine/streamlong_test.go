package engine_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/engine"
	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/perfdata"
)

// A long pipe gives the records and objects of the same recording in a file, on any number of CPUs. Records of its
// header stand between the others, with a payload that is no record. It may be compressed without a feature that says so.
func TestStream_LongAsFile(t *testing.T) {
	dir := testrec.Place(t, "node-fp")
	if err := testrec.Repeat(dir, 8<<20); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "perf.data")
	f := openFile(t, path)
	stream, err := perfdata.AppendPreamble([]byte("PERFILE2\x10\x00\x00\x00\x00\x00\x00\x00"), f)
	if err != nil {
		t.Fatal(err)
	}
	tracing := append([]byte{66, 0, 0, 0, 0, 0, 12, 0, 0, 0x20, 0, 0}, make([]byte, 0x2000)...)
	packed := bytes.NewBuffer(bytes.Clone(stream))
	packer, err := perfdata.NewPacker(packed, f.Header.Order, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	const round = 68 // FINISHED_ROUND
	next := 1 << 20
	eachRaw(t, path, func(rec []byte) {
		if rec[0] != round { // so it ends with a compressed one
			packer.Write(rec)
		}
		if stream = append(stream, rec...); len(stream) > next {
			stream = append(stream, tracing...)
			packer.Raw(tracing)
			next += 2 << 20
		}
	})
	if err := packer.Flush(); err != nil {
		t.Fatal(err)
	}
	for _, change := range []func(*config.Options){
		func(*config.Options) {},
		func(o *config.Options) { o.Bundle = true },
		func(o *config.Options) { o.Sampled = true },
	} {
		made := func(opts config.Options) (got string) {
			change(&opts)
			opts.Output, opts.Objects = filepath.Join(dir, "out.data"), filepath.Join(dir, "objects")
			defer os.RemoveAll(opts.Objects)
			if sum, err := engine.Run(t.Context(), opts); err != nil || !sum.Complete() {
				t.Fatalf("got %s, %v; want no error, nothing missing", asJSON(sum), err)
			}
			var records bytes.Buffer
			eachRaw(t, opts.Output, func(rec []byte) {
				if rec[0] != round {
					records.Write(rec)
				}
			})
			objects, _ := filepath.Glob(filepath.Join(opts.Objects, "*.so"))
			return fmt.Sprintf("%d objects, %d bytes %x", len(objects), records.Len(), sha256.Sum256(records.Bytes()))
		}
		want := made(config.Options{Input: path})
		for _, cpus := range []int{1, 3} {
			for _, input := range [][]byte{stream, packed.Bytes()} {
				was := runtime.GOMAXPROCS(cpus)
				got := made(config.Options{Input: "-", Stdin: feed(t, input, 1<<16)})
				runtime.GOMAXPROCS(was)
				if got != want {
					t.Errorf("%d bytes, %d CPUs: got %s; want %s, as from a file", len(input), cpus, got, want)
				}
			}
		}
	}
}
