package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// jruby runs the program on the release's Java, with the agent of this project.
func jruby(_ context.Context, s *site) (*command, error) {
	agent, err := s.agent()
	if err != nil {
		return nil, err
	}
	java, err := filepath.EvalSymlinks(s.release.path("usr/lib/jvm/default-java"))
	if err != nil {
		return nil, err
	}
	// Debian's Java has links to /etc, which is that of this machine.
	home := filepath.Join(s.work, "java")
	version, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(java), "java-"), "-")
	for name, target := range map[string]string{"lib": filepath.Join(java, "lib"), "conf": s.release.path("etc/java-" + version + "-openjdk")} {
		if err := os.MkdirAll(home, 0o755); err != nil {
			return nil, err
		}
		if err := os.Symlink(target, filepath.Join(home, name)); err != nil && !os.IsExist(err) {
			return nil, err
		}
	}
	args := []string{"-agentpath:" + agent + "=dir=" + s.work, "-Djava.home=" + home, "-Djruby.home=" + s.release.path("usr/share/jruby")}
	if !s.dwarf {
		args = append(args, "-XX:+PreserveFramePointer")
	}
	args = append(args, "-cp", s.release.path("usr/share/jruby/lib/jruby.jar"), "org.jruby.Main", "truth.rb", s.longer())
	words, err := s.release.command(filepath.Join(java, "bin/java"), args...)
	return &command{args: words}, err
}

// longer returns the time of each function for a runtime that compiles late.
func (s *site) longer() string { return s.milliseconds + "0" }

// agent returns the path of this project's agent for Java.
func (s *site) agent() (string, error) {
	path, err := filepath.Abs(filepath.Join(s.bin, "libjitinject-jvmti.so"))
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("%w: make agent builds it", err)
	}
	return path, nil
}
