package main

import (
	"fmt"
	"os"

	"github.com/jitinject/jitinject/internal/testrec"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: unpack NAME DIR")
		os.Exit(2)
	}
	err := testrec.UnpackTo(os.Args[1], os.Args[2])
	if err == nil {
		err = testrec.Relocate(os.Args[2])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "unpack:", err)
		os.Exit(1)
	}
}
