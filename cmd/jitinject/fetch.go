package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"github.com/spf13/pflag"

	"github.com/jitinject/jitinject/internal/fetch"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/stdio"
	"github.com/jitinject/jitinject/internal/words"
)

// fetchOptions are what the command line of jitinject fetch says.
type fetchOptions struct {
	servers                             []string
	all, inPlace, dryRun, force, asJSON bool
	cache                               string
	jobs, verbose                       int
	quiet                               bool
}

func newFetchFlags(o *fetchOptions) *pflag.FlagSet {
	fs := newFlagSet("fetch")
	listVar(fs, &o.servers, "server", "ask the debuginfod server at `URL` instead of those in DEBUGINFOD_URLS; may be repeated")
	fs.BoolVar(&o.all, "all", false, "get all objects, not only those that samples refer to")
	fs.BoolVar(&o.inPlace, "in-place", false, "write the objects to the paths in the result, where perf needs them to unwind stacks (--call-graph dwarf)")
	fs.StringVar(&o.cache, "buildid-cache", perfsCache, "put the objects into the build-id cache `DIR` (default: perf's, usually ~/.debug)")
	fs.Lookup("buildid-cache").DefValue = ""
	fs.IntVar(&o.jobs, "jobs", 8, "get `N` objects at the same time")
	fs.BoolVarP(&o.dryRun, "dry-run", "n", false, "list the missing objects, and ask no server")
	fs.BoolVarP(&o.force, "force", "f", false, "read a recording that belongs to another user")
	fs.BoolVar(&o.asJSON, "json", false, "print the summary as JSON on standard output")
	fs.CountVarP(&o.verbose, "verbose", "v", "list each fetched and each missing object")
	fs.BoolVarP(&o.quiet, "quiet", "q", false, "print only missing objects")
	return fs
}

// check completes the options and refuses what makes no sense.
func (o *fetchOptions) check(fs *pflag.FlagSet) (err error) {
	if fs.NArg() == 0 {
		return usageError("fetch needs the names of recordings that were injected")
	}
	if o.cache == "" || o.jobs < 1 || o.inPlace && fs.Changed("buildid-cache") {
		return usageError("--buildid-cache takes a directory, but not with --in-place; --jobs takes a number from 1 on")
	}
	if o.cache, err = cacheOf(o.cache); err != nil && !o.inPlace {
		return err
	}
	if len(o.servers) == 0 && os.Getenv("DEBUGINFOD_URLS") == "" && !o.dryRun {
		return usageError("no server is named: use --server URL, or set DEBUGINFOD_URLS")
	}
	return nil
}

func runFetch(args []string, stdout *os.File, stderr io.Writer) int {
	var o fetchOptions
	fs := newFetchFlags(&o)
	if code, done := parse(fs, args, stdout, stderr); done {
		return code
	}
	if err := o.check(fs); err != nil {
		return refuse(fs, stderr, err)
	}
	ctx, stop := interruptible(signalled{stderr: stderr, what: ending("the objects that are there already stay: fetch again", exitIncomplete)}, syscall.SIGPIPE)
	defer stop()
	code := exitOK
	for _, file := range fs.Args() {
		code = max(code, fetchOne(ctx, &o, file, stdout, stderr))
		if ctx.Err() != nil {
			break
		}
	}
	return code
}

// fetchOne gets the objects of one result and says what came of it.
func fetchOne(ctx context.Context, o *fetchOptions, file string, stdout *os.File, stderr io.Writer) int {
	names := stdio.Lines{W: stdout}
	opts := fetch.Options{Input: file, Force: o.force, All: o.all, DryRun: o.dryRun, InPlace: o.inPlace, Cache: o.cache, Servers: o.servers, Jobs: o.jobs}
	if o.verbose > 0 && !o.asJSON {
		opts.Log = func(path, id string) { names.Print(id + " " + quote.Printable(path)) }
	}
	sum, err := fetch.Run(ctx, opts)
	if sum != nil && o.dryRun && !o.asJSON {
		for _, m := range sum.Missing {
			names.Print(m.BuildID + " " + quote.Printable(m.Path))
		}
	}
	written := names.Written(stderr)
	switch {
	case sum == nil && ctx.Err() != nil:
		fmt.Fprintln(stderr, "jitinject: interrupted; nothing was fetched")
		return exitIncomplete
	case sum == nil:
		return fail(stderr, err)
	case ctx.Err() != nil:
		err = errors.New("interrupted; the objects that were fetched stay")
	}
	if o.asJSON {
		written = writeJSON(stdout, stderr, sum) && written
	} else {
		o.write(stderr, sum)
	}
	if err != nil {
		printError(stderr, err)
	}
	if err != nil || len(sum.Missing) > 0 && !o.dryRun || !written {
		return exitIncomplete
	}
	return exitOK
}

// maxMissing is how many missing objects are named without -v.
const maxMissing = 10

func (o *fetchOptions) write(w io.Writer, s *fetch.Summary) {
	absent := false
	for i, m := range s.Missing {
		absent = absent || m.Absent
		switch {
		case o.dryRun || i > maxMissing && o.verbose == 0:
		case i == maxMissing && o.verbose == 0:
			fmt.Fprintf(w, "jitinject: %s; -v names them\n", words.Plural(len(s.Missing)-i, "more is missing", "more are missing"))
		case m.BuildID == "":
			fmt.Fprintf(w, "jitinject: %s: %s\n", quote.Printable(m.Path), quote.Printable(m.Reason))
		default:
			fmt.Fprintf(w, "jitinject: %s (build id %s): %s\n", quote.Printable(m.Path), m.BuildID, quote.Printable(m.Reason))
		}
	}
	if absent {
		fmt.Fprintln(w, "jitinject: a debuginfod server knows new objects after its next scan: kill -USR1 makes it scan")
	}
	if o.quiet {
		return
	}
	for _, note := range s.Notes {
		fmt.Fprintf(w, "jitinject: note: %s\n", note)
	}
	fmt.Fprintf(w, "%s: ", quote.Printable(s.Input))
	switch {
	case s.Objects == 0:
		fmt.Fprintln(w, "no objects of jitted functions are mapped in it; nothing to fetch")
		return
	case o.dryRun:
		fmt.Fprintf(w, "%s of %s are needed, %s missing\n", words.Number(int64(s.Wanted)), words.Count(int64(s.Objects), "object"), words.Plural(len(s.Missing), "is", "are"))
		return
	}
	fmt.Fprintf(w, "%s of %s are needed: %s fetched", words.Number(int64(s.Wanted)), words.Count(int64(s.Objects), "object"), words.Number(int64(s.Fetched)))
	if s.Fetched > 0 {
		fmt.Fprintf(w, " (%s in %s)", words.Size(s.Bytes), words.Duration(s.Time))
	}
	for _, other := range []struct {
		n    int
		text string
	}{{s.There, "there already"}, {len(s.Missing), "missing"}} {
		if other.n > 0 {
			fmt.Fprintf(w, ", %s %s", words.Number(int64(other.n)), other.text)
		}
	}
	fmt.Fprintln(w)
	if s.Unwinds && !o.inPlace && s.Wanted > 0 {
		fmt.Fprintln(w, "its stacks are copies, which perf unwinds only through objects at their paths: --in-place puts them there")
	}
}
