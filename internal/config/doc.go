// Package config holds the settings of a run: the [Options]. Package inject publishes them under
// the same names, without those that only the command needs.
package config
