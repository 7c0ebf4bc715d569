package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// machine describes where the figures come from.
func machine(dir, disk string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %d CPUs, %s of memory; %s; %s; jitinject built with %s; in memory on %s",
		cpu(), runtime.NumCPU(), memory(), version("uname", "-sr"), version("perf", "--version"), runtime.Version(), fileSystem(dir))
	if disk != "" {
		fmt.Fprintf(&b, ", on a disk with %s", fileSystem(disk))
	}
	fmt.Fprintf(&b, ". %s.\n", time.Now().Format("January 2006"))
	return b.String()
}

func cpu() string {
	if info, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(info)) {
			if name, ok := strings.CutPrefix(line, "model name\t: "); ok {
				return strings.TrimSpace(name)
			}
		}
	}
	return runtime.GOARCH
}

func memory() string {
	var info syscall.Sysinfo_t
	if err := syscall.Sysinfo(&info); err != nil {
		return "an unknown amount"
	}
	return fmt.Sprintf("%d GB", (uint64(info.Totalram)*uint64(info.Unit)+1<<29)>>30)
}

// version returns what a program says of itself in its first line.
func version(name string, args ...string) string {
	out, err := exec.Command(name, args...).Output()
	if err != nil {
		return "no " + name
	}
	first, _, _ := strings.Cut(string(out), "\n")
	return strings.TrimSpace(first)
}

// fileSystem returns the type of the file system that a directory is on.
func fileSystem(dir string) string { return version("stat", "-f", "-c", "%T", dir) }
