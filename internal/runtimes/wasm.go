package main

import (
	"context"
	"path/filepath"
)

var (
	wazeroModule   = &module{path: "github.com/tetratelabs/wazero", program: "wazero", tags: "perfmap"}
	wasmtimeModule = &module{path: "github.com/bytecodealliance/wasmtime-go", major: "/v39", program: "wasmtime"}
)

// wasm runs the program of C, compiled to WebAssembly with the compiler and libraries of this
// machine's release. wazero writes a map, /tmp/perf-PID.map, and wasmtime a dump in the working
// directory.
func wasm(ctx context.Context, s *site) (*command, error) {
	for _, name := range []string{"clang", "lld", "wasi-libc", "libclang-rt-dev-wasm32"} {
		if _, err := output(ctx, "", nil, filepath.Join(s.top, "script", "debian-root"), thisSuite(), "/", name); err != nil {
			return nil, err
		}
	}
	_, err := output(ctx, s.work, nil, "clang", "--target=wasm32-wasi", "-O2", "-g", "-isystem", "wasm", "-include", "other.c", "-o", "truth.wasm", "truth.c")
	return &command{args: []string{s.program, "truth.wasm", s.milliseconds}}, err
}

// wasmtimeCore runs the program without a dump, and takes the objects that wasmtime registers for
// debuggers from a core dump of its end.
func wasmtimeCore(ctx context.Context, s *site) (*command, error) {
	const run = `ulimit -c unlimited; "$@" 2>messages; mv core* app.core || { cat messages >&2; exit 1; }`
	c, err := wasm(ctx, s)
	if err != nil {
		return nil, err
	}
	c.args = append([]string{"sh", "-c", run, "sh"}, c.args...)
	c.env, c.inject = []string{"TRUTH_CORE=1", "GOTRACEBACK=crash"}, []string{"--code-from", filepath.Join(s.work, "app.core")}
	return c, nil
}
