package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strconv"

	"github.com/jitinject/jitinject/internal/testrec"
)

func main() {
	size := flag.Int("code", 0, "bytes of code of each function, at least; 0 for what real ones have")
	tiny := flag.Bool("tiny", false, "functions of three instructions, without lines")
	repeat := flag.Bool("repeat", false, "in place of functions: gigabytes of samples of Node.js")
	flag.Parse()
	n, err := strconv.Atoi(flag.Arg(0))
	if err != nil || n < 0 || flag.NArg() != 2 {
		fmt.Fprintln(os.Stderr, "usage: make [-code BYTES | -tiny] FUNCTIONS DIR, or make -repeat GIGABYTES DIR")
		os.Exit(2)
	}
	dir := flag.Arg(1)
	if *repeat {
		err = errors.Join(testrec.UnpackTo("node-fp", dir), testrec.Relocate(dir), testrec.Repeat(dir, int64(n)<<30))
	} else {
		err = testrec.Made{Functions: n, CodeSize: *size, Tiny: *tiny}.Write(dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "make:", err)
		os.Exit(1)
	}
}
