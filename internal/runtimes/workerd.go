package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

const (
	// workerdConfig is the configuration of a service.
	workerdConfig = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  v8Flags = ["--perf-prof"],
  services = [(name = "truth", worker = (compatibilityDate = "2026-01-01", modules = [
    (name = "main.mjs", esModule = embed "main.mjs"),
    (name = "truth.mjs", esModule = embed "truth.mjs"),
    (name = "other.mjs", esModule = embed "other.mjs")]))]);
`
	// workerdMain runs the program. Clocks of workerd stand still while a worker computes: each
	// call of this one counts as a tenth of a millisecond.
	workerdMain = `let time = 0;
globalThis.process = { argv: ['', '', '%s'] };
globalThis.performance = { now: () => time += 0.1 };
globalThis.setTimeout = (f) => f();
export default { async test() { await import('truth.mjs'); } };
`
)

// workerd runs the program as a test of a worker.
func workerd(_ context.Context, s *site) (*command, error) {
	for name, text := range map[string]string{"config.capnp": workerdConfig, "main.mjs": fmt.Sprintf(workerdMain, s.milliseconds)} {
		if err := os.WriteFile(filepath.Join(s.work, name), []byte(text), 0o644); err != nil {
			return nil, err
		}
	}
	program, err := s.npmProgram("workerd")
	return &command{args: []string{program, "test", "config.capnp"}}, err
}
