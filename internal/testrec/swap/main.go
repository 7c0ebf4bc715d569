package main

import (
	"fmt"
	"os"

	"github.com/jitinject/jitinject/internal/testrec"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: swap IN OUT")
		os.Exit(2)
	}
	if err := swap(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintf(os.Stderr, "swap: %s: %v\n", os.Args[1], err)
		os.Exit(1)
	}
}

func swap(in, out string) error {
	b, err := os.ReadFile(in)
	if err != nil {
		return err
	}
	if b, err = testrec.SwapFile(b); err != nil {
		return err
	}
	return os.WriteFile(out, b, 0o600)
}
