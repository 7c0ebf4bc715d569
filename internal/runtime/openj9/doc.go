// Package openj9 finds captures of OpenJ9's metadata and the processes that they are of: by
// what they say, by where their code is, and by where samples are (owner.go).
package openj9
