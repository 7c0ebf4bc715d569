package v8

import (
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"net/url"
	"strings"

	"github.com/jitinject/jitinject/internal/format/v8log"
)

// Source maps in URLs of type data [RFC 2397]: data:application/json;base64,….

// maxPlainURL bounds a map in a URL without base64, in bytes. Such a map is kept in memory.
const maxPlainURL = 4 << 20

var errDataURL = errors.New("its data: URL is damaged")

// isData reports whether an escaped URL is one of type data.
func isData(raw []byte) bool { return len(raw) > 5 && strings.EqualFold(string(raw[:5]), "data:") }

// dataOf returns the content of a URL of type data, and its size in bytes. raw is the beginning of
// the URL at span, escaped.
func dataOf(src io.ReaderAt, span v8log.Span, raw []byte) (io.ReaderAt, int64, error) {
	comma, size := bytes.IndexByte(raw, ','), 1
	if escaped := bytes.Index(raw, []byte(`\x2C`)); escaped >= 0 && (comma < 0 || escaped < comma) {
		comma, size = escaped, 4 // V8 escapes commas
	}
	if comma < 0 {
		return nil, 0, errDataURL
	}
	content := v8log.Span{Off: span.Off + int64(comma+size), Size: span.Size - int64(comma+size)}
	if strings.HasSuffix(strings.ToLower(string(raw[:comma])), ";base64") {
		return newBase64(src, content)
	}
	b, err := v8log.ReadSpan(src, content, maxPlainURL, nil)
	if err != nil {
		return nil, 0, err
	}
	text, err := url.PathUnescape(string(v8log.AppendText(nil, b)))
	if err != nil {
		return nil, 0, errDataURL
	}
	return strings.NewReader(text), int64(len(text)), nil
}

// A base64At decodes base64 in a file at any offset.
type base64At struct {
	src    io.ReaderAt
	off    int64 // of the base64 in src
	digits int64 // without padding
}

// newBase64 returns the bytes in base64 of a span, and their number.
func newBase64(src io.ReaderAt, s v8log.Span) (io.ReaderAt, int64, error) {
	last, err := v8log.ReadSpan(src, v8log.Span{Off: s.Off + max(0, s.Size-2), Size: min(2, s.Size)}, 2, nil)
	if err != nil {
		return nil, 0, err
	}
	digits := s.Size - int64(len(last)-len(bytes.TrimRight(last, "=")))
	if digits%4 == 1 {
		return nil, 0, errDataURL
	}
	return &base64At{src, s.Off, digits}, digits * 3 / 4, nil
}

// ReadAt reads decoded bytes.
func (b *base64At) ReadAt(p []byte, off int64) (n int, err error) {
	group := off / 3
	r := base64.NewDecoder(base64.RawStdEncoding, io.NewSectionReader(b.src, b.off+4*group, max(b.digits-4*group, 0)))
	if _, err = io.CopyN(io.Discard, r, off%3); err == nil {
		n, err = io.ReadFull(r, p)
	}
	switch {
	case err == io.ErrUnexpectedEOF:
		err = io.EOF
	case errors.As(err, new(base64.CorruptInputError)):
		err = errDataURL
	}
	return n, err
}
