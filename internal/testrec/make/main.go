package main

import (
	"flag"
	"fmt"
	"os"
	"strconv"

	"github.com/jitinject/jitinject/internal/testrec"
)

func main() {
	size := flag.Int("code", 0, "bytes of code of each function, at least; 0 for what real ones have")
	tiny := flag.Bool("tiny", false, "functions of three instructions, without lines")
	flag.Parse()
	n, err := strconv.Atoi(flag.Arg(0))
	if err != nil || n < 0 || flag.NArg() != 2 {
		fmt.Fprintln(os.Stderr, "usage: make [-code BYTES | -tiny] FUNCTIONS DIR")
		os.Exit(2)
	}
	if err := (testrec.Made{Functions: n, CodeSize: *size, Tiny: *tiny}).Write(flag.Arg(1)); err != nil {
		fmt.Fprintln(os.Stderr, "make:", err)
		os.Exit(1)
	}
}
