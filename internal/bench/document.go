package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// section prints a section, and puts it between its markers in the document, which
// look like this:
//
//	<!-- begin NAME -->
//	<!-- end NAME -->
func (b *bench) section(name, text string) error {
	fmt.Printf("\n%s: %s", name, text)
	if b.file == "" {
		return nil
	}
	doc, err := os.ReadFile(b.file)
	if err != nil {
		return err
	}
	begin, end := fmt.Sprintf("<!-- begin %s -->\n", name), fmt.Sprintf("<!-- end %s -->", name)
	before, rest, ok := strings.Cut(string(doc), begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		return fmt.Errorf("%s has no place for %s, which begins with %s", b.file, name, begin)
	}
	return os.WriteFile(b.file, []byte(before+begin+text+end+after), 0o644)
}

// machine describes where the figures come from.
func machine(dir, disk string) string {
	text := firstLine("sh", "-c", `echo "$(sed -n 's/^model name\t: //p' /proc/cpuinfo | head -1), $(nproc) CPUs, $(awk '/^MemTotal/ { printf "%.0f GB", $2 / 1048576 }' /proc/meminfo) of memory; $(uname -sr); $(perf --version)"`)
	text += "; jitinject built with " + runtime.Version() + "; in memory on " + fileSystem(dir)
	if disk != "" {
		text += ", on a disk with " + fileSystem(disk)
	}
	return text + time.Now().Format(". January 2006.\n")
}

// firstLine returns the first line that a program prints.
func firstLine(name string, args ...string) string {
	out, err := exec.Command(name, args...).Output()
	if err != nil {
		return "no " + name
	}
	first, _, _ := strings.Cut(string(out), "\n")
	return strings.TrimSpace(first)
}

// fileSystem returns the type of the file system that a directory is on.
func fileSystem(dir string) string { return firstLine("stat", "-f", "-c", "%T", dir) }
