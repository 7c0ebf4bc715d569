package main

import (
	"context"
	"path/filepath"
)

// numba runs the program that Numba compiles.
func numba(_ context.Context, s *site) (*command, error) {
	return s.waitingPython("3", []string{"NUMBA_CACHE_DIR=" + s.work, "NUMBA_DEBUGINFO=1"}, "truth_numba.py", s.milliseconds, "wait")
}

// pythonJIT runs the program with CPython's JIT compiler, which names none of its code by
// function.
func pythonJIT(_ context.Context, s *site) (*command, error) {
	return s.waitingPython(s.version, []string{"PYTHON_JIT=1"}, "truth.py", s.milliseconds, "wait")
}

// waitingPython runs a program with Python of the release. python3 is a link to a version.
func (s *site) waitingPython(version string, env []string, args ...string) (*command, error) {
	program, err := s.release.find("usr/bin/python" + version)
	if err != nil {
		return nil, err
	}
	if program, err = filepath.EvalSymlinks(program); err != nil {
		return nil, err
	}
	words, err := s.release.command(program, args...)
	env = append(env, "PYTHONHOME="+s.release.path("usr"), "PYTHONPATH="+s.release.path("usr/lib/python3/dist-packages"), "PYTHONDONTWRITEBYTECODE=1")
	return &command{args: words, env: env}, err
}
