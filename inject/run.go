package inject

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/perfdata"
)

// Run reads opts.Input and writes opts.Output. If it returns an error, no output
// was written and an output that was there before is untouched; so are objects
// that were there and stay the same, but others may have been replaced already.
// Otherwise the summary says what was done, and whether anything is missing
// ([Summary.Complete]).
//
// When ctx is cancelled, Run stops soon and leaves no new file behind.
func Run(ctx context.Context, opts Options) (*Summary, error) {
	if opts.Producer == "" {
		opts.Producer = "jitinject"
	}
	in, info, err := openInput(&opts)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	file, err := perfdata.Open(in, info.Size())
	if err != nil {
		return nil, inputError(opts.Input, err)
	}
	if file.Header.Features.Has(perfdata.FeatureDirFormat) {
		return nil, fmt.Errorf("%s: it is one of the files of a directory that perf record --threads made, and those cannot be read yet; record again without --threads", Printable(opts.Input))
	}
	rec, err := surveyRecording(ctx, opts.Input, file)
	if err != nil {
		return nil, inputError(opts.Input, err)
	}
	if err := rec.nameDumps(opts.Dumps); err != nil {
		return nil, err
	}
	opts.logf(2, "surveyed: %d markers", len(rec.markers))
	sum := &Summary{Input: opts.Input, Output: opts.Output, Markers: len(rec.markers), Dumps: []DumpSummary{}, Problems: []Problem{}}
	if file.Header.Unfinished {
		sum.Problems = append(sum.Problems, Problem{opts.Input, -1, "perf record did not come to its end; the records up to there are used, what it writes last is missing"})
	}
	sum.Injected = rec.injected
	if opts.Strict && len(rec.markers) == 0 && rec.injected == 0 {
		return nil, fmt.Errorf("%s: no process in it mapped a jitdump (jit-PID.dump); nothing was written, because of --strict", Printable(opts.Input))
	}
	dumps, err := findDumps(ctx, rec, &opts, sum)
	if err != nil {
		return nil, err
	}
	defer func() { closeDumps(dumps) }()
	opts.logf(2, "scanned: %d dumps", len(dumps))

	out, err := openOutput(opts.Output, info, dumps)
	if err != nil {
		return nil, err
	}
	defer out.abandon()
	stores, dumps, err := openStores(dumps, &opts, sum)
	defer stores.close()
	if err == nil && len(rec.markers) > 0 && len(dumps) == 0 {
		err = nothingToInject(sum.Problems)
	}
	var objects *objectWriter
	if err == nil {
		plan := makePlan(rec, dumps, sum)
		opts.logf(2, "planned: %d objects, %d mappings", len(plan.objects), len(plan.mappings))
		objects, err = makeObjects(ctx, plan, stores, &opts, sum)
		if err == nil {
			opts.logf(2, "made: %d objects", sum.Objects)
			if err = rewrite(ctx, rec, plan, usedMarkers(dumps), out.file, sum); errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) {
				err = outputError(opts.Output, err)
			}
			opts.logf(2, "rewritten: %d mappings put in, %d records left out", sum.Mappings, sum.Dropped)
		}
	}
	if err == nil && opts.Strict {
		err = strictError(sum)
	}
	if err == nil {
		err = out.commit()
	}
	if err != nil {
		if objects != nil {
			objects.undo()
		}
		stores.removeMade()
		return nil, err
	}
	for i, d := range dumps {
		for _, r := range d.source.Repairs() {
			sum.Dumps[i].Repairs = append(sum.Dumps[i].Repairs, Repair(r))
		}
	}
	return sum, nil
}

// strictError returns what is missing in the result as an error.
func strictError(sum *Summary) error {
	problems := slices.Clone(sum.Problems)
	for i := range sum.Dumps {
		if d := &sum.Dumps[i]; d.Cut >= 0 {
			problems = append(problems, Problem{d.Path, d.Cut, fmt.Sprintf("it ends inside a record, at offset %#x", d.Cut)})
		}
	}
	if len(problems) == 0 {
		return nil
	}
	return fmt.Errorf("%w; nothing was written, because of --strict", problemsError(problems))
}

// openInput opens the recording. As with perf, it must belong to the user or to
// root, unless Force says otherwise: what is in it steers what is read and made.
func openInput(opts *Options) (*os.File, os.FileInfo, error) {
	f, err := os.Open(opts.Input)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fmt.Errorf("%s: there is no such file; make one with perf record -k mono, or name it with -i", Printable(opts.Input))
	} else if err != nil {
		return nil, nil, fmt.Errorf("%s: cannot read it: %w", Printable(opts.Input), errors.Unwrap(err))
	}
	st, err := f.Stat()
	switch {
	case err != nil:
	case st.IsDir():
		err = fmt.Errorf("%s: it is a directory, as perf record --threads makes them, and those cannot be read yet; record again without --threads", Printable(opts.Input))
	case !st.Mode().IsRegular():
		err = fmt.Errorf("%s: it is not a regular file", Printable(opts.Input))
	case !opts.Force && !ownedByUserOrRoot(st):
		err = fmt.Errorf("%s: it belongs neither to you nor to root; use -f to read it all the same", Printable(opts.Input))
	default:
		return f, st, nil
	}
	f.Close()
	return nil, nil, err
}

// inputError says what an error about the recording means for the user.
func inputError(path string, err error) error {
	advice := ""
	switch {
	case errors.Is(err, perfdata.ErrPipe):
		advice = ", as perf record -o - writes it, and that cannot be read yet; record into a file"
	case errors.Is(err, perfdata.ErrNoData):
		advice = "; was perf record stopped before it could write?"
	case errors.Is(err, perfdata.ErrNotPerfData):
		advice = "; name the file that perf record wrote with -i"
	}
	return fmt.Errorf("%s: %w%s", Printable(path), err, advice)
}

// nothingToInject is the error of a run in which no dump could be used.
func nothingToInject(problems []Problem) error {
	return fmt.Errorf("%w\nnone of the functions could be injected; no output was written", problemsError(problems))
}

// problemsError joins problems into one error.
func problemsError(problems []Problem) error {
	errs := make([]error, len(problems))
	for i, p := range problems {
		errs[i] = errors.New(p.String())
	}
	return errors.Join(errs...)
}
