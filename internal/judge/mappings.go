package judge

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"regexp"
	"strconv"
)

// A Mapping is a part of a file in a process's memory.
type Mapping struct {
	PID    int
	Start  uint64 // the address of the first byte
	Size   uint64 // in bytes
	Offset uint64 // of the first byte, in the file
	File   string
}

// mapped matches a line of perf script for PERF_RECORD_MMAP and PERF_RECORD_MMAP2:
// "PERF_RECORD_MMAP2 PID/TID: [START(SIZE) @ OFFSET …]: r-xp FILE".
var mapped = regexp.MustCompile(`PERF_RECORD_MMAP2? (-?\d+)/-?\d+: \[0x([0-9a-f]+)\(0x([0-9a-f]+)\) @ (?:0x)?([0-9a-f]+)[^\]]*\]: \S+ (.*)$`)

// Mappings returns the mappings of a recording, in the order of perf script, including
// those that later ones replace.
func Mappings(ctx context.Context, perf, file string) ([]Mapping, error) {
	cmd, clean, err := Command(ctx, perf, "script", "-f", "--show-mmap-events", "-G", "-F", "pid", "-i", file)
	if err != nil {
		return nil, err
	}
	defer clean()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s script --show-mmap-events -i %s: %w: %s", perf, file, err, tail(stderr.String()))
	}
	return parseMappings(bytes.NewReader(out))
}

// parseMappings reads the mappings in the output of perf script.
func parseMappings(r io.Reader) (all []Mapping, err error) {
	in := bufio.NewScanner(r)
	in.Buffer(nil, 1<<20)
	for n := 1; in.Scan(); n++ {
		found := mapped.FindStringSubmatch(in.Text())
		if found == nil {
			continue
		}
		m := Mapping{File: found[5]}
		if m.PID, err = strconv.Atoi(found[1]); err != nil {
			return all, fmt.Errorf("line %d: %w", n, err)
		}
		for i, number := range []*uint64{&m.Start, &m.Size, &m.Offset} {
			if *number, err = strconv.ParseUint(found[2+i], 16, 64); err != nil {
				return all, fmt.Errorf("line %d: %w", n, err)
			}
		}
		all = append(all, m)
	}
	return all, in.Err()
}
