package judge

import "fmt"

// A Count is a summary of a recording: how many samples and frames are resolved and whole.
type Count struct {
	Samples int // all samples
	Frames  int // of all samples
	Whole   int // samples with a stack down to the bottom

	Jitted      int // samples with a jitted frame
	JittedWhole int // samples with a jitted frame and a stack down to the bottom

	Named     int // samples in a function with a name, in an object
	Anonymous int // samples in memory that belongs to no file
}

// CountOf counts the samples of a recording.
func CountOf(samples []Sample) (c Count) {
	c.Samples = len(samples)
	for i := range samples {
		s := &samples[i]
		c.Frames += len(s.Frames)
		whole, jitted := s.Whole(), s.Jitted()
		if whole {
			c.Whole++
		}
		if jitted {
			c.Jitted++
		}
		if whole && jitted {
			c.JittedWhole++
		}
		if len(s.Frames) == 0 {
			continue
		}
		switch f := &s.Frames[0]; {
		case f.Jitted() && f.Symbol != "":
			c.Named++
		case f.Anonymous():
			c.Anonymous++
		}
	}
	return c
}

func (c Count) String() string {
	return fmt.Sprintf("%d of %d stacks with jitted frames are whole; %d of %d samples, %d frames", c.JittedWhole, c.Jitted, c.Whole, c.Samples, c.Frames)
}
