package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// beam makes a directory with a command erl of the release, and returns it. Programs of
// Erlang start each other, so all of them are wrapped.
func (s *site) beam() (dir string, err error) {
	dir = filepath.Join(s.work, "beam")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	programs, err := filepath.Glob(s.release.path("usr/lib/erlang/erts-*/bin/*"))
	if err != nil || len(programs) == 0 {
		return "", fmt.Errorf("%s has no Erlang", s.release.path("usr/lib/erlang"))
	}
	for _, p := range programs {
		if err := s.release.wrap(filepath.Join(dir, filepath.Base(p)), p); err != nil {
			return "", err
		}
	}
	erlexec, err := s.release.find("usr/lib/erlang/erts-*/bin/erlexec")
	if err != nil {
		return "", err
	}
	return dir, s.release.wrap(filepath.Join(dir, "erl"), erlexec, "ROOTDIR="+s.release.path("usr/lib/erlang"), "BINDIR="+dir, "EMU=beam", "PROGNAME=erl")
}

// erlang compiles the program with the runtime's own compiler, and runs it.
func erlang(ctx context.Context, s *site) (*command, error) {
	dir, err := s.beam()
	if err != nil {
		return nil, err
	}
	erl := filepath.Join(dir, "erl")
	compile := `case compile:file("truth.erl", [return_errors]) of {ok, _} -> halt(0); E -> io:format("~p~n", [E]), halt(1) end.`
	if _, err := output(ctx, s.work, []string{"HOME=" + s.work}, erl, "-noshell", "-eval", compile); err != nil {
		return nil, err
	}
	return &command{args: []string{erl, "+JPperf", "true", "-noshell", "-run", "truth", "main", s.milliseconds}}, nil
}

// elixir runs the script.
func elixir(_ context.Context, s *site) (*command, error) {
	dir, err := s.beam()
	if err != nil {
		return nil, err
	}
	program, err := s.release.find("usr/lib/elixir/bin/elixir")
	return &command{
		args: []string{"sh", program, "truth.exs", s.milliseconds},
		env:  []string{"PATH=" + dir + ":" + os.Getenv("PATH"), "ELIXIR_ERL_OPTIONS=+JPperf true +fnu"},
	}, err
}
