package engine

import (
	"context"

	"github.com/jitinject/jitinject/internal/count"
)

// preview ends a run with Options.Preview: it plans the objects and counts the samples, and makes
// nothing. Problems that only making an object shows are missing.
func (r *result) preview(ctx context.Context) error {
	_, wait, err := r.plan(ctx)
	if err != nil {
		return err
	}
	counter := wait()
	addCounted(r.sum, count.Start(ctx, counter, r.dumps).Finish(r.sum.Dumps, r.opts.Again, nil))
	if err := explain(ctx, r.rec, r.left, r.code, r.dumps, counter, r.opts, r.sum); err != nil {
		return err
	}
	addDumps(r.sum, r.rec, r.dumps)
	return ctx.Err()
}
