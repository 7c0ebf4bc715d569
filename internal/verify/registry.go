package verify

import (
	"bytes"
	"context"
	"io"

	"github.com/jitinject/jitinject/internal/format/j9meta"
	"github.com/jitinject/jitinject/internal/format/monolog"
	"github.com/jitinject/jitinject/internal/format/xrayfdr"
)

// The formats there are, until internal/formats lists them.

// Kinds of files that are no dumps.
const (
	KindMono = monolog.FormatName
	KindXRay = xrayfdr.FormatName
	KindJ9   = j9meta.FormatName
)

func verifier() *Verifier {
	dump, mono, xray, j9 := dumpFormat, monoFormat, xrayFormat, j9Format
	dump.Identify = func(src io.ReaderAt, _ string) bool { return begins(src, "DTiJ") || begins(src, "JiTD") }
	mono.Identify = func(src io.ReaderAt, _ string) bool { return begins(src, monoMagic) }
	xray.Identify = func(src io.ReaderAt, _ string) bool {
		var b [8]byte
		n, _ := src.ReadAt(b[:], 0)
		return xrayfdr.Looks(b[:n])
	}
	j9.Identify = func(_ io.ReaderAt, path string) bool { return j9meta.IsCapturePair(path) }
	return New([]Format{dump, mono, xray, j9}, []Format{recordingFormat(func(ctx context.Context, path string, w *logWitness) bool {
		kind, _ := KindOf(path)
		return kind == KindMono && monoRecorded(ctx, path, w) || kind == KindXRay && xrayRecorded(ctx, path, w) || kind == KindJ9 && j9Recorded(ctx, path, w)
	}), objectFormat})
}

func begins(src io.ReaderAt, magic string) bool {
	b := make([]byte, len(magic))
	n, _ := src.ReadAt(b, 0)
	return bytes.Equal(b[:n], []byte(magic))
}

// Rules are all rules there are, in the order in which they are explained.
var Rules = verifier().Rules()

// Explain returns the rule of a name.
func Explain(name string) (Rule, bool) { return verifier().Explain(name) }

// Files returns the files to check where some are named.
func Files(named []string) []string { return verifier().Files(named) }

// File checks one file. The error says that it could not be read, or is ctx's.
func File(ctx context.Context, path string, opts Options) (Result, error) {
	return verifier().File(ctx, path, opts)
}

// KindOf returns the kind of a file.
func KindOf(path string) (string, error) {
	f, err := verifier().Identify(path)
	if err != nil {
		return "", err
	}
	return f.Kind, nil
}
