package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A bench is one run of this command.
type bench struct {
	program string // jitinject
	rounds  int
	file    string // document that the tables are put into, or ""
	held    map[string]contest
}

func main() {
	b := &bench{held: make(map[string]contest)}
	dir := flag.String("dir", "/dev/shm", "where to measure: a tmpfs")
	disk := flag.String("disk", "", "a directory on a disk, to measure there as well")
	only := flag.String("only", "", "the parts to run, with commas between them: "+strings.Join(partNames(), ", "))
	flag.IntVar(&b.rounds, "rounds", 3, "how often everything is run")
	flag.StringVar(&b.file, "write", "", "put the tables between the markers in this file, too")
	measured := flag.Bool("measure", false, "run the arguments as a command and print what it took")
	flag.Parse()
	if *measured {
		os.Exit(measure(flag.Args()))
	}
	var err error
	if b.program, err = filepath.Abs("bin/jitinject"); err == nil {
		err = b.parts(*dir, *disk, *only)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// parts runs the parts that were asked for, in memory and then on a disk.
func (b *bench) parts(dir, disk, only string) error {
	chosen := partNames()
	if only != "" {
		chosen = strings.Split(only, ",")
	}
	if i := slices.IndexFunc(chosen, func(name string) bool { return !slices.Contains(partNames(), name) }); i >= 0 {
		return fmt.Errorf("-only %s: the parts are %s", chosen[i], strings.Join(partNames(), ", "))
	}
	if err := b.section("machine", machine(dir, disk)); err != nil {
		return err
	}
	for _, base := range []string{dir, disk} {
		if base == "" {
			continue
		}
		m, err := newMedium(base, base == disk)
		if err != nil {
			return err
		}
		defer m.close()
		for _, name := range chosen {
			if err := b.part(m, name); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	if only != "" { // it would take the others out of the documentation
		b.file = ""
	}
	return b.section("requirements", requirementsOf(b.held))
}
