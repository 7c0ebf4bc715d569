package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// floorBlock is how much the floor reads or writes at a time, in bytes, as jitinject does.
const floorBlock = 256 << 10

// A floorFile is a file that jitinject made, and the floor makes again.
type floorFile struct {
	name string
	data []byte
}

// floors measures each mode beside a program that does no more than the mode's input and output: it
// reads the recording and the dump once, and makes the same files with the same calls.
func (b *bench) floors(m *medium) error {
	r := madeRecording(100_000)
	defer m.forget(r)
	c := &contest{recording: r, medium: m, rounds: cmp.Or(b.rounds, 3), warm: true, group: 2}
	var text strings.Builder
	for _, mode := range []string{withoutSync, sampled + noSync, bundle + noSync} {
		files, read, err := b.collectAll(m, r, mode)
		if err != nil {
			return err
		}
		written := 0
		for _, f := range files {
			written += len(f.data)
		}
		calls, err := b.countCalls(m, r, mode)
		if err != nil {
			return err
		}
		fmt.Fprintf(&text, "- `%s` gets %d MB of input and writes %d MB in %s files. %s\n", mode, read>>20, written>>20, thousands(len(files)), calls)
		c.contestants = append(c.contestants, b.jitinject(mode), floorOf(mode, files))
	}
	return b.show(c, "floor", fmt.Sprintf("%s\nA made-up recording of 100,000 functions. Rounds: %d, %s.", text.String(), c.rounds, m.name()))
}

// noSync is added to modes that are compared with their floor, which does not wait for the disk.
const noSync = " --no-sync"

// collectAll returns the files that a mode makes, and the number of bytes in its input.
func (b *bench) collectAll(m *medium, r recording, mode string) (files []floorFile, read int64, err error) {
	if err := m.fresh(r); err != nil {
		return nil, 0, err
	}
	before, err := os.ReadDir(m.work())
	if err != nil {
		return nil, 0, err
	}
	input := make(map[string]bool)
	for _, f := range before {
		info, err := f.Info()
		if err != nil {
			return nil, 0, err
		}
		input[f.Name()] = true
		read += info.Size()
	}
	if _, err := b.jitinject(mode).run(m.work()); err != nil {
		return nil, 0, err
	}
	after, err := os.ReadDir(m.work())
	if err != nil {
		return nil, 0, err
	}
	for _, f := range after {
		if input[f.Name()] || !f.Type().IsRegular() {
			continue
		}
		data, err := os.ReadFile(filepath.Join(m.work(), f.Name()))
		if err != nil {
			return nil, 0, err
		}
		files = append(files, floorFile{f.Name(), data})
	}
	return files, read, m.retire()
}

// countCalls says how many system calls on files a mode makes, by strace.
func (b *bench) countCalls(m *medium, r recording, mode string) (string, error) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		return "(Its system calls were not counted: strace is missing.)", nil
	}
	if err := m.fresh(r); err != nil {
		return "", err
	}
	counts := m.path("calls")
	defer os.Remove(counts)
	args := append([]string{strace, "-f", "-c", "-qq", "-o", counts, b.program, "-q", "-i", "perf.data", "-o", ourResult}, strings.Fields(strings.TrimPrefix(mode, byDefault))...)
	if _, err := run(m.work(), args...); err != nil {
		return "", err
	}
	table, err := os.ReadFile(counts)
	if err != nil {
		return "", err
	}
	return callsOf(string(table)), m.retire()
}

// callsOf returns the calls on files in a table of strace -c, the most frequent ones by name.
func callsOf(table string) string {
	type call struct {
		name string
		n    int
	}
	var calls []call
	all := 0
	for _, line := range strings.Split(table, "\n") {
		// % time, seconds, usecs/call, calls, perhaps errors, name
		words := strings.Fields(line)
		if len(words) < 5 || !slices.Contains(fileCalls, words[len(words)-1]) {
			continue
		}
		if n, err := strconv.Atoi(words[3]); err == nil {
			calls = append(calls, call{words[len(words)-1], n})
			all += n
		}
	}
	slices.SortFunc(calls, func(x, y call) int { return cmp.Or(cmp.Compare(y.n, x.n), cmp.Compare(x.name, y.name)) })
	var names []string
	for _, c := range calls[:min(len(calls), 6)] {
		names = append(names, fmt.Sprintf("%s %s", thousands(c.n), c.name))
	}
	return fmt.Sprintf("System calls on files: %s (%s).", thousands(all), strings.Join(names, ", "))
}

// fileCalls are the system calls that a mode needs for its files. Those of Go's scheduler and
// collector are not among them.
var fileCalls = []string{"openat", "read", "pread64", "write", "pwrite64", "close", "fstat", "newfstatat", "fcntl", "flock", "renameat", "renameat2", "unlinkat", "copy_file_range", "ftruncate", "fallocate", "fchmod", "lseek"}

// floorOf returns the contestant that does a mode's input and output and nothing else, on all CPUs.
func floorOf(mode string, files []floorFile) *contestant {
	return &contestant{name: "the same reads and writes as " + mode, run: func(dir string) (result, error) {
		input, err := os.ReadDir(dir)
		if err != nil {
			return result{}, err
		}
		root, err := os.OpenRoot(dir)
		if err != nil {
			return result{}, err
		}
		defer root.Close()
		start := time.Now()
		err = onAllCPUs(len(input)+len(files), func(i int) error {
			if i < len(input) {
				return readAll(root, input[i].Name(), make([]byte, floorBlock))
			}
			return files[i-len(input)].write(root)
		})
		if err != nil {
			return result{}, err
		}
		return result{wall: time.Since(start)}, nil
	}}
}

// readAll reads a file from front to back.
func readAll(root *os.Root, name string, block []byte) error {
	f, err := root.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	for {
		switch _, err := f.Read(block); err {
		case nil:
		case io.EOF:
			return nil
		default:
			return err
		}
	}
}

// write makes the file. jitinject writes files that are larger than an object of one function under
// another name first.
func (f *floorFile) write(root *os.Root) error {
	if len(f.data) <= floorBlock/4 {
		return writeFile(root, f.name, f.data)
	}
	part := f.name + ".part"
	out, err := root.Create(part)
	if err != nil {
		return err
	}
	for data := f.data; len(data) > 0 && err == nil; {
		n := min(len(data), floorBlock)
		_, err = out.Write(data[:n])
		data = data[n:]
	}
	if cerr := out.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return err
	}
	return os.Rename(filepath.Join(root.Name(), part), filepath.Join(root.Name(), f.name))
}
