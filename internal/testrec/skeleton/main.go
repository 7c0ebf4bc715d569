package main

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	if len(os.Args) < 2 || len(os.Args) > 3 {
		fmt.Fprintln(os.Stderr, "usage: skeleton RECORDING [ROOT]")
		os.Exit(2)
	}
	root := "/"
	if len(os.Args) == 3 {
		root = os.Args[2]
	}
	if err := run(os.Args[1], root); err != nil {
		fmt.Fprintln(os.Stderr, "skeleton:", err)
		os.Exit(1)
	}
}

func run(dir, root string) error {
	data, err := os.ReadFile(filepath.Join(dir, "perf.data"))
	if err != nil {
		return err
	}
	for name, maps := range mappingsOf(data) {
		in := filepath.Join(root, name)
		if !isELF(in) {
			fmt.Fprintf(os.Stderr, "skeleton: %s is left out: there is no ELF file\n", in)
			continue
		}
		out := filepath.Join(dir, "root", name)
		if err := os.MkdirAll(filepath.Dir(out), 0o755); err != nil {
			return err
		}
		if err := copySkeleton(in, out, offsetsIn(data, maps)); err != nil {
			return fmt.Errorf("%s: %w", in, err)
		}
	}
	return nil
}

func isELF(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	magic := make([]byte, 4)
	_, err = f.ReadAt(magic, 0)
	return err == nil && string(magic) == "\x7fELF"
}

// A mapped is a mapping of a part of a file.
type mapped struct{ addr, size, off uint64 }

// mappingsOf returns the executable mappings of files, from the MMAP2 records of a
// perf.data of x86-64.
func mappingsOf(in []byte) map[string][]mapped {
	const (
		mmap2      = 10
		executable = 4
		head       = 72
		trailer    = 16
	)
	le := binary.LittleEndian
	files := make(map[string][]mapped)
	at, size := le.Uint64(in[40:]), le.Uint64(in[48:])
	for rest := in[at : at+size]; len(rest) > 0; rest = rest[le.Uint16(rest[6:]):] {
		if le.Uint32(rest) != mmap2 || le.Uint32(rest[64:])&executable == 0 {
			continue
		}
		rec := rest[:le.Uint16(rest[6:])]
		name, _, _ := strings.Cut(string(rec[head:len(rec)-trailer]), "\x00")
		if !strings.HasPrefix(name, "/") || strings.HasPrefix(name, "//") {
			continue
		}
		m := mapped{le.Uint64(rec[16:]), le.Uint64(rec[24:]), le.Uint64(rec[32:])}
		if !slices.Contains(files[name], m) {
			files[name] = append(files[name], m)
		}
	}
	return files
}

// offsetsIn returns the file offsets, in order, of all addresses that any 8 bytes of the
// data may be.
func offsetsIn(data []byte, maps []mapped) []uint64 {
	seen := make(map[uint64]bool)
	for i := 0; i+8 <= len(data); i += 8 {
		v := binary.LittleEndian.Uint64(data[i:])
		for _, m := range maps {
			if v-m.addr < m.size {
				seen[v-m.addr+m.off] = true
			}
		}
	}
	offsets := make([]uint64, 0, len(seen))
	for off := range seen {
		offsets = append(offsets, off)
	}
	slices.Sort(offsets)
	return offsets
}
