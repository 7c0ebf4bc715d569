// Package j9meta decodes the metadata that OpenJ9's compiler writes for each
// method it compiles.
package j9meta
