package debuginfod

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"sync/atomic"
	"time"
)

// An answer is the body of one answer, within its bounds. It is what the caller reads.
type answer struct {
	body io.Reader
	max  int64 // bytes; 0 for no limit
	size int64 // bytes read so far
	err  error // of reading; nil at the end of the file

	recent atomic.Int64 // bytes since the last check of the pace
}

// minPace is how many bytes must come in each period of the timeout, as with elfutils' clients.
const minPace = 100 << 10

// newAnswer returns an answer that is about to be asked for, and the context of the request, which
// ends when the answer takes too long. The caller calls end.
func (c *Client) newAnswer(ctx context.Context) (_ context.Context, a *answer, end func()) {
	a = &answer{max: c.config.MaxSize}
	ctx, cancel := context.WithCancelCause(ctx)
	if d := c.config.Timeout; d > 0 {
		go a.keepPace(ctx, d, cancel)
	}
	stop := func() bool { return false }
	if d := c.config.MaxTime; d > 0 {
		stop = time.AfterFunc(d, func() { cancel(permanent(fmt.Sprintf("the file took longer than %v (DEBUGINFOD_MAXTIME)", d))) }).Stop
	}
	return ctx, a, func() {
		stop()
		cancel(context.Canceled)
	}
}

// keepPace cancels an answer that is too slow. It ends with ctx.
func (a *answer) keepPace(ctx context.Context, period time.Duration, cancel context.CancelCauseFunc) {
	t := time.NewTicker(period)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			if a.recent.Swap(0) < minPace {
				cancel(fmt.Errorf("it sent less than %d KiB in %v", minPace>>10, period))
				return
			}
		}
	}
}

// Read reads the file.
func (a *answer) Read(p []byte) (int, error) {
	if a.err != nil {
		return 0, a.err
	}
	n, err := a.body.Read(p)
	a.size += int64(n)
	a.recent.Add(int64(n))
	if a.max > 0 && a.size > a.max {
		n, err = 0, tooLarge(a.max)
	}
	if err != nil && err != io.EOF {
		a.err = err
	}
	return n, err
}

func tooLarge(max int64) error {
	return permanent(fmt.Sprintf("the file is larger than %d bytes, which DEBUGINFOD_MAXSIZE allows", max))
}

// why returns the reason of an error of a request, without the URL that package http adds.
func why(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return errors.New("it ended before the file was complete")
	}
	return err
}
