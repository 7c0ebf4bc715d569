package main

import "context"

// jsc runs the program in JavaScriptCore's shell of WebKitGTK, with lines. useSourceCodeDump must
// come before useJITDump.
func jsc(_ context.Context, s *site) (*command, error) {
	program, err := s.release.find("usr/bin/jsc")
	if err != nil {
		return nil, err
	}
	setUp := "var process = { argv: ['', '', '" + s.milliseconds + "'] }, console = { log: print };"
	words, err := s.release.command(program, "-e", setUp, "truth.mjs")
	return &command{args: words, env: []string{"JSC_useSourceCodeDump=1", "JSC_useJITDump=1", "JSC_jitDumpDirectory=" + s.work}}, err
}
