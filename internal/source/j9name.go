package source

import (
	"github.com/jitinject/jitinject/internal/format/j9meta"
	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/jitdump"
)

// What those need who show records and captures, so that methods and lines are the same there.

// JavaName returns the name of a method of a record as functions have it.
func JavaName(m *jitdump.JavaMethod) string { return javaName(m, maxOriginName) }

// JavaFile returns the name of a method's file as functions have it.
func JavaFile(m *jitdump.JavaMethod) string { return javaFile(m, maxOriginName) }

// J9Function returns the part of a capture that is at an address, its lines and inlined calls, and
// as the texts of its files the listings of methods whose lines are not known. It has no code, and
// where the metadata cannot be decoded no lines.
func J9Function(raw *j9meta.Capture, addr, size uint64) *jitcode.Function {
	r := captureReader()
	r.captured(raw, &j9Part{addr: addr, size: size})
	r.fn.Texts = make([]string, len(r.fn.Files))
	for i, file := range r.fn.Files {
		r.fn.Texts[i] = r.listing(file)
	}
	return &r.fn
}
