package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/jitinject/jitinject/internal/export"
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
	return o.show(fs, stdout, stderr, ".html", func(ctx context.Context, w io.Writer, p *profile.Profile) error {
		page := view.Options{Sources: safefile.ReadSource, Beside: filepath.Dir(o.input)}
		if o.base != "" {
			var err error
			if page.Base, err = o.read(ctx, o.base); err != nil {
				return err
			}
		}
		return view.Write(w, p, page)
	})
}

func runExport(args []string, stdout *os.File, stderr io.Writer) int {
	o := pageOptions{command: "export"}
	fs := newExportFlags(&o)
	if code, done := parse(fs, args, stdout, stderr); done {
		return code
	}
	suffix := ""
	for _, f := range export.Formats() {
		if f.Name == o.format {
			suffix = f.Suffix
		}
	}
	return o.show(fs, stdout, stderr, suffix, func(_ context.Context, w io.Writer, p *profile.Profile) error {
		return export.Write(w, o.format, p, export.Options{Program: "jitinject " + version()})
	})
}

// show reads a result and writes a file of it. suffix ends the name of the file.
func (o *pageOptions) show(fs *pflag.FlagSet, stdout *os.File, stderr io.Writer, suffix string, write func(context.Context, io.Writer, *profile.Profile) error) int {
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
	if err == nil {
		err = o.write(stdout, func(w io.Writer) error { return write(ctx, w, p) })
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
	return safefile.WriteFile(o.output, 0o644, write)
}
