package export

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/jitinject/jitinject/internal/profile"
)

// A Format is a file format of a viewer.
type Format struct {
	Name   string // for [Write]
	Suffix string // that a file of this format has, with its dot
	Brief  string // its readers, in a line
	write  func(w *bufio.Writer, p *profile.Profile, options Options) error
}

// Options are what a file says beside the samples.
type Options struct {
	Program string // that writes the file, such as "jitinject 1.2.3"; "" for none
}

// errNoSamples is returned for a profile without samples: some viewers refuse such a file, others
// show an empty window.
var errNoSamples = errors.New("the recording has no samples")

// formats are all formats, in the order of [Formats].
var formats = []Format{
	{"pprof", ".pb.gz", "go tool pprof, Pyroscope, Parca", writePprof},
	{"speedscope", ".speedscope.json", "www.speedscope.app", writeSpeedscope},
	{"firefox", ".firefox.json.gz", "profiler.firefox.com", writeFirefox},
	{"folded", ".folded", "FlameGraph and others: text, a line for each stack", writeFolded},
}

// Formats returns all formats. The slice is the caller's.
func Formats() []Format {
	return append([]Format(nil), formats...)
}

// Write writes a profile in the format of a name. The same profile always gives the same bytes.
// Memory depends on the number of distinct stacks, and on the samples of one thread.
//
// Write returns [errNoSamples] for a profile without samples, and an error for an unknown format
// and for those of w. Then a part of the file may be written.
func Write(w io.Writer, format string, p *profile.Profile, options Options) error {
	for _, f := range formats {
		if f.Name != format {
			continue
		}
		if len(p.Samples) == 0 {
			return errNoSamples
		}
		out := bufio.NewWriterSize(w, 1<<16)
		if err := f.write(out, withUnknownStack(p), options); err != nil {
			return err
		}
		return out.Flush()
	}
	return fmt.Errorf("unknown format %q", format)
}

// withUnknownStack returns the profile with one more stack, whose only frame is [unknown], if there
// are samples without a stack: they get it. Some viewers count such samples, others leave them out of their sums.
func withUnknownStack(p *profile.Profile) *profile.Profile {
	if !slices.ContainsFunc(p.Samples, func(s profile.Sample) bool { return s.Stack < 0 }) {
		return p
	}
	larger := *p
	larger.Functions = append(slices.Clip(p.Functions), profile.Function{})
	larger.Frames = append(slices.Clip(p.Frames), profile.Frame{Function: len(p.Functions)})
	larger.Stacks = append(slices.Clip(p.Stacks), profile.Stack{Caller: -1, Frame: len(p.Frames)})
	return &larger
}

// stackOf is the stack of a sample, in a profile of [withUnknownStack].
func stackOf(p *profile.Profile, sample int) int {
	if stack := p.Samples[sample].Stack; stack >= 0 {
		return stack
	}
	return len(p.Stacks) - 1
}
