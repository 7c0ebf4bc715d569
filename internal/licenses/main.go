package main

import (
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "licenses:", err)
		os.Exit(1)
	}
}

func run(args []string, stdout io.Writer) error {
	flags := flag.NewFlagSet("licenses", flag.ContinueOnError)
	program := flags.String("program", "./cmd/jitinject", "the `package` that is linked")
	spdx := flags.Bool("spdx", false, "only the SPDX expression of all licenses together")
	if err := flags.Parse(args); err != nil {
		return err
	}
	uses, err := linked(*program)
	if err != nil {
		return err
	}
	standard, err := goLicense()
	if err != nil {
		return err
	}
	if *spdx {
		_, err = fmt.Fprintln(stdout, expression(append(uses, standard)))
		return err
	}
	return writeCopyright(stdout, uses, standard)
}
