// Command wazero runs a program of WASI, compiled to machine code: go build -tags perfmap; wazero
// truth.wasm [ARGUMENT...]
package main

import (
	"context"
	"crypto/rand"
	"log"
	"os"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
)

func main() {
	log.SetFlags(0)
	program, err := os.ReadFile(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigCompiler())
	wasi_snapshot_preview1.MustInstantiate(ctx, r)
	config := wazero.NewModuleConfig().WithArgs(os.Args[1:]...).WithStdout(os.Stdout).WithStderr(os.Stderr).
		WithSysNanotime().WithSysWalltime().WithRandSource(rand.Reader)
	if _, err := r.InstantiateWithConfig(ctx, program, config); err != nil {
		log.Fatal(err)
	}
}
