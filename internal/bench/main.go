package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// A bench is one run of this command.
type bench struct {
	program string // jitinject
	rounds  int    // as asked for, or 0
	shown   shown
	book    book
}

func main() {
	b := &bench{book: make(book)}
	dir := flag.String("dir", "/dev/shm", "where to measure: a tmpfs")
	disk := flag.String("disk", "", "a directory on a disk, to measure there as well")
	only := flag.String("only", "", "the parts to run, with commas between them: "+strings.Join(partNames(), ", "))
	flag.IntVar(&b.rounds, "rounds", 0, "how often everything is run; 0 for what is usual in each part")
	flag.StringVar(&b.shown.file, "write", "", "put the tables between the markers in this file, too")
	growth := flag.Bool("growth", false, "measure from 10,000 to 300,000 functions instead")
	large := flag.String("large", "", "measure the memory that a dump of 4 GB takes instead, in this directory")
	binary := flag.String("jitinject", "bin/jitinject", "the program to measure")
	measured := flag.Bool("measure", false, "run the arguments as a command and print what it took")
	flag.Parse()
	if *measured {
		os.Exit(measure(flag.Args()))
	}
	var err error
	if b.program, err = filepath.Abs(*binary); err == nil {
		switch {
		case *large != "":
			err = b.large(*large)
		case *growth:
			err = b.growth(*dir)
		default:
			err = b.parts(*dir, *disk, *only)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// A part is what can be run by itself.
type part struct {
	name  string
	run   func(*bench, *medium) error
	where places
}

// places are the media on which a part makes sense.
type places int

const (
	inMemory places = 1 << iota
	onDisk
)

var allParts = []part{
	{"erlang", (*bench).erlang, inMemory | onDisk},
	{"functions", (*bench).functions, inMemory | onDisk},
	{"tiny", (*bench).tiny, inMemory},
	{"floor", (*bench).floors, inMemory},
	{"long", (*bench).long, inMemory | onDisk},
	{"readers", (*bench).readers, inMemory},
	{"xray", (*bench).xray, inMemory},
	{"total", (*bench).total, inMemory},
	{"total-long", (*bench).totalLong, inMemory},
	{"total-huge", (*bench).totalHuge, onDisk}, // with its results, it is larger than most memories
}

func partNames() []string {
	var names []string
	for _, p := range allParts {
		names = append(names, p.name)
	}
	return names
}

// parts runs the parts that were asked for, in memory and then on a disk.
func (b *bench) parts(dir, disk, only string) error {
	var chosen []part
	for _, p := range allParts {
		if only == "" || strings.Contains(","+only+",", ","+p.name+",") {
			chosen = append(chosen, p)
		}
	}
	if want := strings.Count(only, ",") + 1; only != "" && len(chosen) != want {
		return fmt.Errorf("-only %s: the parts are %s", only, strings.Join(partNames(), ", "))
	}
	run := func(base string, place places) error {
		m, err := newMedium(base, place == onDisk)
		if err != nil {
			return err
		}
		defer m.close()
		for _, p := range chosen {
			if p.where&place == 0 {
				continue
			}
			if err := p.run(b, m); err != nil {
				return fmt.Errorf("%s: %w", p.name, err)
			}
		}
		return nil
	}
	if err := b.shown.section("machine", machine(dir, disk)); err != nil {
		return err
	}
	if err := run(dir, inMemory); err != nil {
		return err
	}
	if disk != "" {
		if err := run(disk, onDisk); err != nil {
			return err
		}
	}
	if only != "" && !b.book.complete() { // it would take the others out of the documentation
		b.shown.file = ""
	}
	return b.shown.section("requirements", b.book.requirements(only == ""))
}
