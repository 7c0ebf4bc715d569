package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/pflag"

	"github.com/jitinject/jitinject/internal/export"
	"github.com/jitinject/jitinject/internal/output"
	"github.com/jitinject/jitinject/internal/profile"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/record"
	"github.com/jitinject/jitinject/internal/safefile"
	"github.com/jitinject/jitinject/internal/safefile/sys"
	"github.com/jitinject/jitinject/internal/stdio"
	"github.com/jitinject/jitinject/internal/terminal"
	"github.com/jitinject/jitinject/internal/view"
	"github.com/jitinject/jitinject/internal/words"
)

// pageOptions are what the command lines of jitinject view and export say.
type pageOptions struct {
	command     string // view or export
	output      string
	base        string
	format      string
	nativeLines bool
	force       bool
	open        bool
	input       string // the only argument
}

func newPageFlags(o *pageOptions) *pflag.FlagSet {
	fs := newFlagSet("view")
	fs.StringVarP(&o.output, "output", "o", "", "write the page to `FILE.html` (default: beside the result, perf.jit.html); - is standard output")
	fs.StringVar(&o.base, "base", "", "compare with the result `OLD`, by function names")
	fs.BoolVar(&o.nativeLines, "native-lines", false, "also show lines and inlined calls of native code, which takes longer")
	offOnly(fs, &o.open, "open", "do not open the page in a browser")
	fs.BoolVarP(&o.force, "force", "f", false, "read a recording that belongs to another user")
	return fs
}

func newExportFlags(o *pageOptions) *pflag.FlagSet {
	var names []string
	for _, f := range export.Formats() {
		names = append(names, f.Name)
	}
	fs := newFlagSet("export")
	fs.StringVar(&o.format, "format", export.Formats()[0].Name, "`"+strings.Join(names, "|")+"`: the format")
	fs.StringVarP(&o.output, "output", "o", "", "write to `FILE` (default: beside the result); - is standard output")
	fs.BoolVar(&o.nativeLines, "native-lines", false, "also write lines and inlined calls of native code, which takes longer")
	fs.BoolVarP(&o.force, "force", "f", false, "read a recording that belongs to another user")
	return fs
}

func runPage(args []string, stdout *os.File, stderr io.Writer) int {
	o := pageOptions{command: "view"}
	fs := newPageFlags(&o)
	if code, done := parse(fs, args, stdout, stderr); done {
		return code
	}
	return o.show(fs, stdout, stderr, ".html", func(w io.Writer, p, base *profile.Profile) error {
		return view.Write(w, p, view.Options{Sources: safefile.ReadSource, Beside: filepath.Dir(o.input), Base: base})
	})
}

func runExport(args []string, stdout *os.File, stderr io.Writer) int {
	o := pageOptions{command: "export"}
	fs := newExportFlags(&o)
	if code, done := parse(fs, args, stdout, stderr); done {
		return code
	}
	chosen := slices.IndexFunc(export.Formats(), func(f export.Format) bool { return f.Name == o.format })
	return o.show(fs, stdout, stderr, export.Formats()[chosen].Suffix, func(w io.Writer, p, _ *profile.Profile) error {
		return export.Write(w, o.format, p, export.Options{Program: "jitinject " + version()})
	})
}

// show reads a result and writes a file of it. suffix ends the name of the file.
func (o *pageOptions) show(fs *pflag.FlagSet, stdout *os.File, stderr io.Writer, suffix string, write func(w io.Writer, p, base *profile.Profile) error) int {
	if o.input = defaultOutput; fs.NArg() == 1 {
		o.input = fs.Arg(0)
	} else if fs.NArg() > 1 {
		return refuse(fs, stderr, usageError("it takes one result"))
	}
	if o.output == "" {
		o.output = strings.TrimSuffix(o.input, ".data") + suffix
	}
	ctx, stop := interruptible(signalled{stderr: stderr, what: ending("nothing was written", exitFailed)})
	defer stop()
	p, err := o.read(ctx, o.input)
	var base *profile.Profile
	if err == nil && o.base != "" {
		base, err = o.read(ctx, o.base)
	}
	if err == nil {
		err = o.write(stdout, func(w io.Writer) error { return write(w, p, base) })
	}
	if err != nil {
		return fail(stderr, err)
	}
	for _, w := range p.Recording.Warnings {
		fmt.Fprintf(stderr, "jitinject: note: %s\n", w)
	}
	if o.output != "-" {
		fmt.Fprintf(stderr, "%s: %s of %s\n", quote.Printable(o.output), words.Count(int64(len(p.Samples)), "sample"), quote.Printable(o.input))
		if o.open && suffix == ".html" {
			terminal.OpenPage(o.output)
		}
	}
	return exitOK
}

func (o *pageOptions) read(ctx context.Context, path string) (*profile.Profile, error) {
	if _, err := sys.Stat(path); errors.Is(err, os.ErrNotExist) && path == defaultOutput {
		return nil, errors.New("there is no " + defaultOutput + "; to make one: jitinject record COMMAND, or jitinject after perf record")
	}
	perf, err := record.FindPerf()
	if err != nil {
		return nil, err
	}
	return profile.Read(ctx, profile.Options{Command: o.command, Perf: perf, Path: path, Force: o.force, NativeLines: o.nativeLines})
}

// write writes the output: a file completely or not at all.
func (o *pageOptions) write(stdout *os.File, write func(io.Writer) error) error {
	if o.output == "-" && stdio.WasClosed(stdout) {
		return errClosed
	}
	if o.output == "-" {
		w := bufio.NewWriter(stdout)
		return errors.Join(write(w), w.Flush())
	}
	err := safefile.WriteFile(o.output, 0o644, write)
	if errors.As(err, new(syscall.Errno)) {
		return output.Error(o.output, err)
	}
	return err
}
