package recording

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/safefile/sys"
	"github.com/jitinject/jitinject/perfdata"
)

// OpenResult opens a result of an earlier run, for a command of that name. It must be a file that can
// be read again. The caller closes it.
func OpenResult(command, path string, force bool) (*Input, error) {
	if path == "-" {
		return nil, fmt.Errorf("%s does not read standard input; name the recording's file", command)
	}
	if _, err := sys.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: there is no such file; name a result of jitinject", quote.Printable(path))
	}
	in, err := Open(&config.Options{Input: path, Force: force})
	if errors.Is(err, perfdata.ErrNotPerfData) {
		return nil, fmt.Errorf("%s: %w; name a result of jitinject", quote.Printable(path), perfdata.ErrNotPerfData)
	}
	if err != nil {
		return nil, err
	}
	if in.piped {
		in.Close()
		return nil, fmt.Errorf("%s: it is a pipe; %s needs a recording in a file", quote.Printable(in.Path), command)
	}
	return in, nil
}
