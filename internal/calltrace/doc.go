// Package calltrace puts logs of calls into a recording, as samples of an event of their own.
// open.go opens the logs. form.go determines the form of the recording's events. sink.go puts
// each sample before the first record that is later.
package calltrace
