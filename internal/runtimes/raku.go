package main

import "context"

// raku runs the program with MoarVM's map.
func raku(_ context.Context, s *site) (*command, error) {
	program, err := s.release.find("usr/bin/rakudo")
	if err != nil {
		return nil, err
	}
	words, err := s.release.command(program, "truth.raku", s.longer())
	return &command{args: words, env: []string{
		"MVM_JIT_PERF_MAP=1", "NQP_HOME=" + s.release.path("usr/share/nqp"), "RAKUDO_HOME=" + s.release.path("usr/lib/perl6"),
	}}, err
}
