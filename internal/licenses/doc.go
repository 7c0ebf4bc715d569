// Command licenses writes what a package must say about copyright: whose code is
// linked into a program, and under which terms, in Debian's machine-readable format
// (https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/). It asks the
// go command, offline, and refuses a license that is not known to be compatible with
// the Apache License 2.0.
//
//	licenses -program ./cmd/jitinject >packaging/debian/copyright    # make copyright
//	licenses -program ./cmd/jitinject -spdx                          # the License: of an RPM
package main
