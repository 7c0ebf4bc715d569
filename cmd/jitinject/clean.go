package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"github.com/spf13/pflag"

	"github.com/jitinject/jitinject/internal/objstore"
	"github.com/jitinject/jitinject/internal/perfcache"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/record"
	"github.com/jitinject/jitinject/internal/safefile/sys"
	"github.com/jitinject/jitinject/internal/stdio"
	"github.com/jitinject/jitinject/internal/words"
)

// cleanOptions are what the command line of jitinject clean says.
type cleanOptions struct {
	dryRun, force, quiet bool
	verbose              int
	cache                string // directory of a build-id cache, perfsCache, or "" for none
	files                []string
}

func newCleanFlags(o *cleanOptions) *pflag.FlagSet {
	fs := newFlagSet("clean")
	fs.BoolVarP(&o.dryRun, "dry-run", "n", false, "list the files that would be removed, and remove nothing")
	fs.BoolVarP(&o.force, "force", "f", false, "read a recording that belongs to another user")
	fs.StringVar(&o.cache, "buildid-cache", "", "also remove the objects' entries of the build-id cache `DIR` (default: perf's, usually ~/.debug)")
	fs.Lookup("buildid-cache").NoOptDefVal = perfsCache
	fs.CountVarP(&o.verbose, "verbose", "v", "list each removed file")
	fs.BoolVarP(&o.quiet, "quiet", "q", false, "print only files that were not removed")
	return fs
}

func runClean(args []string, stdout *os.File, stderr io.Writer) int {
	var o cleanOptions
	fs := newCleanFlags(&o)
	if code, done := parse(fs, args, stdout, stderr); done {
		return code
	}
	if o.files = fs.Args(); len(o.files) == 0 {
		o.files = []string{defaultOutput}
	}
	if fs.Changed("buildid-cache") {
		if o.cache == "" {
			return refuse(fs, stderr, usageError("--buildid-cache: the name is empty"))
		}
		var err error
		if o.cache, err = cacheOf(o.cache); err != nil {
			return refuse(fs, stderr, err)
		}
	}
	ctx, stop := interruptible(signalled{stderr: stderr, what: ending("the other objects are still there", exitIncomplete)}, syscall.SIGPIPE)
	defer stop()
	code := exitOK
	for _, file := range o.files {
		code = max(code, cleanOne(ctx, &o, file, stdout, stderr))
		if ctx.Err() != nil {
			break
		}
	}
	return code
}

// cleanOne removes the objects of one recording and says what came of it.
func cleanOne(ctx context.Context, o *cleanOptions, file string, stdout *os.File, stderr io.Writer) int {
	opts := objstore.CleanOptions{Input: file, Force: o.force, DryRun: o.dryRun, BuildIDCache: o.cache}
	names := stdio.Lines{W: stdout}
	if o.dryRun && !o.quiet || o.verbose > 0 {
		opts.Log = func(path string) { names.Print(quote.Printable(path)) }
	}
	made, recorded := record.Made(file) // before the result may change
	sum, err := objstore.Clean(ctx, opts)
	written := names.Written(stderr)
	if _, serr := sys.Stat(file); recorded && errors.Is(serr, fs.ErrNotExist) { // record ended before it had a result
		sum, err = new(objstore.CleanSummary), nil
	} else if sum == nil {
		return fail(stderr, err)
	}
	for _, k := range sum.Kept {
		fmt.Fprintf(stderr, "jitinject: %s\n", k)
	}
	if !o.quiet && sum.Input != "" && (sum.Objects > 0 || !recorded) {
		writeCleanSummary(stderr, sum, o)
	}
	if recorded && err == nil && !removeRecorded(file, made, o, &names, stderr) {
		written = false
	}
	switch {
	case err != nil:
		fmt.Fprintf(stderr, "jitinject: interrupted; the other objects are still there\n")
		return exitIncomplete
	case !sum.Complete(), !written:
		return exitIncomplete
	}
	return exitOK
}

// removeRecorded removes what jitinject record made with the result file, and reports whether that went well.
func removeRecorded(file string, paths []string, o *cleanOptions, names *stdio.Lines, stderr io.Writer) bool {
	for i, path := range paths {
		if o.dryRun && !o.quiet || o.verbose > 0 {
			names.Print(quote.Printable(path))
		}
		if o.dryRun {
			continue
		}
		if err := record.Remove(path); err != nil {
			fmt.Fprintf(stderr, "jitinject: %v\n", err)
			return false
		}
		paths[i] = quote.Printable(path)
	}
	if !o.quiet && !o.dryRun {
		rest := ""
		if _, err := sys.Stat(file); err == nil {
			rest = "; " + quote.Printable(file) + " was made since, and stays"
		}
		fmt.Fprintf(stderr, "removed what jitinject record made: %s%s\n", strings.Join(paths, ", "), rest)
	}
	return names.Written(stderr)
}

func writeCleanSummary(w io.Writer, s *objstore.CleanSummary, o *cleanOptions) {
	if s.Objects == 0 {
		fmt.Fprintf(w, "%s: no objects of jitted functions are mapped in it; nothing to remove\n", quote.Printable(s.Input))
		return
	}
	what, freed := "removed", "freed"
	if o.dryRun {
		what, freed = "would be removed", "would be freed"
	}
	fmt.Fprintf(w, "%s: %s of %s %s, %s %s", quote.Printable(s.Input), words.Number(int64(s.Removed)), words.Count(int64(s.Objects), "object"), what, words.Size(s.Bytes), freed)
	if s.Missing > 0 {
		fmt.Fprintf(w, "; %s not there", words.Plural(s.Missing, "was", "were"))
	}
	if n := len(s.Kept); n > 0 {
		fmt.Fprintf(w, "; %s left alone", words.Plural(n, "was", "were"))
	}
	fmt.Fprintln(w)
	if o.cache != "" {
		fmt.Fprintf(w, "%s: %s of these objects %s, %s %s\n", quote.Printable(o.cache), words.Plural(s.Cached, "entry", "entries"), what, words.Size(s.CachedBytes), freed)
	}
}

// perfsCache stands for the build-id cache that perf itself uses, where none is named.
// It is no name of a directory.
const perfsCache = "\x00perf"

// findCache completes the name of the build-id cache.
func (o *options) findCache() (err error) {
	o.BuildIDCache, err = cacheOf(o.BuildIDCache)
	return err
}

// cacheOf returns the directory of the build-id cache that an option names.
func cacheOf(option string) (dir string, err error) {
	if option == perfsCache {
		dir, err = perfcache.Find()
	} else {
		dir, err = perfcache.Named(option)
	}
	if errors.Is(err, perfcache.ErrNoHome) {
		return "", noHome
	}
	if err != nil {
		return "", wrongFile(fmt.Sprintf("--buildid-cache: the configuration of perf cannot be read: %v; name the directory with --buildid-cache=DIR", err))
	}
	return dir, nil
}

const noHome = usageError("--buildid-cache: there is no home directory; name one with --buildid-cache=DIR")
