package checkmap

import (
	"context"

	"github.com/jitinject/jitinject/internal/verify"
	"github.com/jitinject/jitinject/internal/verify/recorded"
)

// besideRecordings compares the map with the recordings that it was put into: they have the map's functions
// where samples are in them. An injection reports what is wrong between a map and another recording.
func (c *checker) besideRecordings(ctx context.Context, opts *verify.Options) error {
	for _, recording := range opts.Beside() {
		contents, err := recorded.ReadContents(ctx, recording)
		if err != nil {
			return err
		}
		missing, err := contents.NotMapped(ctx, contents.Owner(c.pid), c.functions, 0, false)
		if err != nil {
			return err
		}
		for _, m := range missing {
			f := &c.functions[m.Function]
			c.Violation("perfmap/not-mapped", f.Offset, "%s in the code at %#x, which is not mapped", verify.Are(m.Samples, "sample"), f.Addr)
		}
	}
	return nil
}
