// Package mangled makes names of C++ and Rust readable. They come from files that anyone may have written:
// to demangle one of 8 kB may take minutes and gigabytes. Such names stay mangled. The package knows
// names, and nothing of runtimes and files.
package mangled
