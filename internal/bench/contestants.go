package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"
)

// The contestants' names, as tables have them.
const (
	byDefault     = "jitinject"
	withoutSync   = "jitinject --no-sync"
	again         = "jitinject again, nothing changed"
	sampled       = "jitinject --sampled"
	bundle        = "jitinject --bundle"
	withCFI       = "jitinject --cfi"
	perfInject    = "perf inject --jit"
	withoutCache  = "perf --buildid-dir /dev/null inject --jit"
	copying       = "cp"
	copyingSynced = "cp, then sync of the copy"
	plainLoop     = "a plain loop making the same files"
	plainSynced   = "a plain loop, then syncfs"
	withXRay      = "jitinject --xray"
	llvmConvert   = "llvm-xray convert -f yaml"
	sourceLines   = "perf script -F +srcline, of " // the name of the result's program follows
)

// contestants returns the contestants of those names. Plain loops make objects.
func (b *bench) contestants(objects [][]byte, names []string) (all contest) {
	const files = " -i perf.data -o made.data"
	for _, name := range names {
		one := &contestant{name: name, args: strings.Fields(name + files)}
		switch maker, isReader := strings.CutPrefix(name, sourceLines); {
		case name == plainLoop || name == plainSynced:
			one.plain = func(dir string) (result, error) { return plain(dir, objects, name == plainSynced) }
		case name == again:
			one.args = strings.Fields(byDefault + files)
			one.prepare = b.contestants(nil, []string{byDefault})[0].args
		case isReader:
			one.args = strings.Fields("perf script -F +srcline -i made.data")
			one.prepare = b.contestants(nil, []string{maker})[0].args
		case name == copying:
			one.args = strings.Fields("cp perf.data made.data")
		case name == copyingSynced:
			one.args = []string{"sh", "-c", "cp perf.data made.data && sync made.data"}
		case name == withXRay: // where the result goes is not what is asked for: it is some fifty bytes for each record
			one.args = strings.Fields(byDefault + " -i perf.data -o - --xray xray-log.calls")
		case name == llvmConvert:
			tool := firstLine("sh", "-c", "ls /usr/bin/llvm-xray*")
			if tool == "no sh" {
				continue
			}
			one.args = append([]string{tool}, strings.Fields("convert -f yaml -o /dev/null xray-log.calls")...)
		}
		if one.args[0] == byDefault {
			one.args = slices.Concat([]string{b.program, "-q"}, one.args[1:])
		}
		all = append(all, one)
	}
	return all
}

// run measures a command. It is started by another, small copy of this program:
// a process counts as its own peak the memory of the one it was forked from.
func run(dir string, args ...string) (r result, err error) {
	cmd := exec.Command("/proc/self/exe", append([]string{"-measure", "--"}, args...)...)
	cmd.Dir = dir
	// The directory is home, and nothing of the user's own plays a role.
	cmd.Env = append(os.Environ(), "HOME="+dir, "PERF_CONFIG=/dev/null", "LC_ALL=C", "DEBUGINFOD_URLS=")
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err == nil {
		_, err = fmt.Sscan(string(out), (*int64)(&r.wall), &r.peak)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, errs.Bytes())
	}
	return r, err
}

// measure runs a command and prints its time in nanoseconds and its peak memory
// in kilobytes.
func measure(args []string) int {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stderr = os.Stderr
	start := time.Now()
	err := cmd.Run()
	wall := time.Since(start)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Println(wall.Nanoseconds(), cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss)
	return 0
}
