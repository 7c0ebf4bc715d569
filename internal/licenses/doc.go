// Command licenses writes the copyright file of a package: the copyright and the terms of
// all code that is linked into a program. The format is Debian's machine-readable one
// (https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/). It asks the
// go command, offline, and refuses a license that is not known to be compatible with
// the Apache License 2.0.
//
//	licenses -program ./cmd/jitinject >packaging/debian/copyright    # make copyright
//	licenses -program ./cmd/jitinject -spdx                          # the License: of an RPM
package main
