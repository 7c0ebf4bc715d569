package main

import (
	"context"
	"path/filepath"
)

var (
	wazeroModule   = &module{path: "github.com/tetratelabs/wazero", program: "wazero", tags: "perfmap"}
	wasmtimeModule = &module{path: "github.com/bytecodealliance/wasmtime-go", major: "/v39", program: "wasmtime"}
)

// wasm compiles the program of C to WebAssembly, with the compiler and libraries of this
// machine's release.
func (s *site) wasm(ctx context.Context) error {
	for _, name := range []string{"clang", "lld", "wasi-libc", "libclang-rt-dev-wasm32"} {
		if _, err := output(ctx, "", nil, filepath.Join(s.top, "script", "debian-root"), thisSuite(), "/", name); err != nil {
			return err
		}
	}
	_, err := output(ctx, s.work, nil, "clang", "--target=wasm32-wasi", "-O2", "-g", "-isystem", "wasm", "-include", "other.c", "-o", "truth.wasm", "truth.c")
	return err
}

// wazero runs the program with a map, /tmp/perf-PID.map.
func wazero(ctx context.Context, s *site) (*command, error) {
	return &command{args: []string{s.program, "truth.wasm", s.milliseconds}}, s.wasm(ctx)
}

// wasmtime runs the program with a dump, in the working directory.
func wasmtime(ctx context.Context, s *site) (*command, error) {
	return &command{args: []string{s.program, "truth.wasm", s.milliseconds}}, s.wasm(ctx)
}

// wasmtimeCore runs the program without a dump, and takes the objects that wasmtime registers for
// debuggers from a core dump of its end.
func wasmtimeCore(ctx context.Context, s *site) (*command, error) {
	const run = `ulimit -c unlimited; "$@" 2>messages; mv core* app.core || { cat messages >&2; exit 1; }`
	return &command{
		args:   []string{"sh", "-c", run, "sh", s.program, "truth.wasm", s.milliseconds},
		env:    []string{"TRUTH_CORE=1", "GOTRACEBACK=crash"},
		inject: []string{"--code-from", filepath.Join(s.work, "app.core")},
	}, s.wasm(ctx)
}
