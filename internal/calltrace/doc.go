// Package calltrace puts logs of calls into a recording, as samples of an event of their
// own: open.go opens them, form.go says what becomes of the recording's events, sink.go puts
// each sample in front of the first record that is later.
package calltrace
