package main

import (
	"cmp"
	"debug/elf"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jitinject/jitinject/perfdata"
)

// sameNames compares the functions of samples with those that are demanded. "*" is any function.
func sameNames(got, want []string) bool {
	return slices.EqualFunc(got, want, func(g, w string) bool { return g == w || w == "*" && g != "-" })
}

// resolvedNames returns the functions of a recording's samples, in the order of their times, or "-".
// It reads it as perf does: a sample is in the latest mapping of its process that covers the
// address, and in the symbol of that file. Samples without an address are in none.
func resolvedNames(path string) ([]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	file, err := perfdata.Open(f, st.Size())
	if err != nil {
		return nil, err
	}
	layouts, err := perfdata.NewLayouts(file.Header.Order, file.Attrs)
	if err != nil {
		return nil, err
	}
	type timed struct {
		time uint64
		rec  perfdata.Record
	}
	var records []timed
	for blocks := file.Blocks(); ; {
		block, err := blocks.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		for _, rec := range block.Records() {
			rec.Data = slices.Clone(rec.Data)
			time, ok := layouts.Time(rec)
			if n := len(records); !ok && n > 0 {
				time = records[n-1].time
			}
			records = append(records, timed{time, rec})
		}
	}
	slices.SortStableFunc(records, func(a, b timed) int { return cmp.Compare(a.time, b.time) })
	var mappings []perfdata.Mmap
	var names []string
	for _, r := range records {
		switch r.rec.Type {
		case perfdata.RecordMmap, perfdata.RecordMmap2:
			if m, err := layouts.Mmap(r.rec); err == nil {
				mappings = append(mappings, m)
			}
		case perfdata.RecordSample:
			name := "-"
			var s perfdata.Sample
			if err := layouts.DecodeSample(r.rec, perfdata.FieldIP|perfdata.FieldTID, &s); err == nil {
				if name, err = nameAt(mappings, s.PID, s.IP); err != nil {
					return names, err
				}
			}
			names = append(names, name)
		}
	}
	return names, nil
}

// nameAt returns the function at an address of a process, or "-".
func nameAt(mappings []perfdata.Mmap, pid uint32, ip uint64) (string, error) {
	for _, m := range slices.Backward(mappings) {
		if m.PID == pid && ip >= m.Addr && ip-m.Addr < m.Len {
			path := string(m.Filename)
			if !strings.HasPrefix(filepath.Base(path), "jitted-") {
				return "-", nil
			}
			return symbolAt(path, ip-m.Addr+m.PgOff)
		}
	}
	return "-", nil
}

// symbolAt returns the function at an offset of an ELF file, or "-".
func symbolAt(path string, off uint64) (string, error) {
	e, err := elf.Open(path)
	if err != nil {
		return "", fmt.Errorf("the result refers to %s: %w", path, err)
	}
	defer e.Close()
	symbols, err := e.Symbols()
	if err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	for _, s := range e.Sections {
		if s.Flags&elf.SHF_EXECINSTR == 0 || off < s.Offset || off-s.Offset >= s.Size {
			continue
		}
		addr := off - s.Offset + s.Addr
		for _, sym := range symbols {
			if elf.ST_TYPE(sym.Info) == elf.STT_FUNC && addr >= sym.Value && addr-sym.Value < sym.Size {
				return sym.Name, nil
			}
		}
	}
	return "-", nil
}
