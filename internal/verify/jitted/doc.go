// Package jitted has what the checks of several formats share about JIT code: functions, the
// addresses where they lie, calls between them, and the names of dumps and objects. It reads no
// files.
package jitted
