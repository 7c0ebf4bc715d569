package main

import "context"

// java runs the program with the agent of this project.
func java(ctx context.Context, s *site) (*command, error) {
	agent, err := s.agent()
	if err != nil {
		return nil, err
	}
	program, err := s.release.find("usr/lib/jvm/java-" + s.version + "-openjdk-*/bin/java")
	if err != nil {
		return nil, err
	}
	// An older compiler's classes run on all versions.
	if _, err := output(ctx, s.work, nil, "javac", "-g", "Truth.java", "Other.java"); err != nil {
		return nil, err
	}
	args := []string{"-agentpath:" + agent + "=dir=" + s.work, "-XX:CompileCommand=quiet", "-XX:CompileCommand=dontinline,Truth*.*"}
	if !s.dwarf {
		args = append(args, "-XX:+PreserveFramePointer")
	}
	words, err := s.release.command(program, append(args, "-cp", s.work, "Truth", s.milliseconds)...)
	return &command{args: words}, err
}
