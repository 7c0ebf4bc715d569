// Package licenses holds no code, only tests of what the packages say about copyright: script/copyright
// writes packaging/copyright from what is linked into the program (make copyright), and the RPM's
// spec names the same licenses.
package licenses
