// Command wasmtime runs a program of WASI: wasmtime truth.wasm [ARGUMENT...]. It writes a jitdump. If
// TRUTH_CORE is set, it writes none, and ends with a core dump: that has the objects that wasmtime
// registers for debuggers, with lines.
package main

import (
	"log"
	"os"
	"syscall"

	"github.com/bytecodealliance/wasmtime-go/v39"
)

func main() {
	log.SetFlags(0)
	config := wasmtime.NewConfig()
	if os.Getenv("TRUTH_CORE") == "" {
		config.SetProfiler(wasmtime.ProfilingStrategyJitdump)
	}
	config.SetDebugInfo(true)
	engine := wasmtime.NewEngineWithConfig(config)
	module, err := wasmtime.NewModuleFromFile(engine, os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	linker := wasmtime.NewLinker(engine)
	if err := linker.DefineWasi(); err != nil {
		log.Fatal(err)
	}
	wasi := wasmtime.NewWasiConfig()
	wasi.SetArgv(os.Args[1:])
	wasi.InheritStdout()
	store := wasmtime.NewStore(engine)
	store.SetWasi(wasi)
	instance, err := linker.Instantiate(store, module)
	if err != nil {
		log.Fatal(err)
	}
	if _, err = instance.GetFunc(store, "_start").Call(store); err != nil {
		log.Fatal(err)
	}
	if os.Getenv("TRUTH_CORE") != "" {
		syscall.Kill(os.Getpid(), syscall.SIGABRT)
		select {} // until the signal arrives
	}
}
