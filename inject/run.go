package inject

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/jitinject/jitinject/perfdata"
)

// Run reads opts.Input and writes opts.Output. If it returns an error, no output
// was written and what was there before is untouched. Otherwise the summary says
// what was done, and whether anything is missing ([Summary.Complete]).
//
// When ctx is cancelled, Run stops soon and leaves nothing behind.
func Run(ctx context.Context, opts Options) (*Summary, error) {
	in, info, err := openInput(&opts)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	file, err := perfdata.Open(in, info.Size())
	if err != nil {
		return nil, inputError(opts.Input, err)
	}
	rec, err := surveyRecording(opts.Input, file)
	if err != nil {
		return nil, inputError(opts.Input, err)
	}
	opts.logf(2, "surveyed: %d markers", len(rec.markers))
	sum := &Summary{Input: opts.Input, Output: opts.Output, Markers: len(rec.markers)}
	if file.Header.Unfinished {
		sum.Problems = append(sum.Problems, Problem{opts.Input, -1, "perf record did not come to its end; the records up to there are used, what it writes last is missing"})
	}
	dumps, markers := findDumps(rec, &opts, sum)
	defer func() {
		for _, d := range dumps {
			d.file.Close()
		}
	}()
	if len(rec.markers) > 0 && len(dumps) == 0 {
		return nil, nothingToInject(sum.Problems)
	}

	opts.logf(2, "scanned: %d dumps", len(dumps))

	out, err := openOutput(opts.Output, info)
	if err != nil {
		return nil, err
	}
	defer out.abandon()
	plan, err := makePlan(rec, dumps, &opts, sum)
	if err != nil {
		return nil, err
	}
	opts.logf(2, "planned: %d objects, %d mappings", len(plan.objects), len(plan.mappings))
	objects, err := makeObjects(ctx, plan, &opts, sum)
	defer objects.close()
	if err == nil {
		opts.logf(2, "made: %d objects", sum.Objects)
		err = rewrite(ctx, rec, plan, markers, out.file, sum)
	}
	opts.logf(2, "rewritten: %d mappings put in, %d records left out", sum.Mappings, sum.Dropped)
	if err == nil && opts.Strict && !sum.Complete() {
		err = fmt.Errorf("%w; nothing was written, because of --strict", problemsError(sum.Problems))
	}
	if err == nil {
		err = out.commit()
	}
	if err != nil {
		objects.undo()
		return nil, err
	}
	for i, d := range dumps {
		for _, r := range d.source.Repairs() {
			sum.Dumps[i].Repairs = append(sum.Dumps[i].Repairs, Repair(r))
		}
	}
	return sum, nil
}

// openInput opens the recording. As with perf, it must belong to the user or to
// root, unless Force says otherwise: what is in it steers what is read and made.
func openInput(opts *Options) (*os.File, os.FileInfo, error) {
	f, err := os.Open(opts.Input)
	if err != nil {
		return nil, nil, err
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
	return fmt.Errorf("%w; no output was written, since there is nothing to inject", problemsError(problems))
}

// problemsError joins problems into one error.
func problemsError(problems []Problem) error {
	errs := make([]error, len(problems))
	for i, p := range problems {
		errs[i] = errors.New(p.String())
	}
	return errors.Join(errs...)
}
