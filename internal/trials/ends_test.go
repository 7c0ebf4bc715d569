package trials

import (
	"slices"
	"strings"
	"syscall"
)

// An end is how a program ends.
type end struct {
	name     string
	mode     string // of the program
	terminal bool
	drive    func(p *process) // after the start
	duration bool             // jitinject's -d ends the program
	once     string           // the signal that the program must note exactly once
}

var ends = []end{
	{name: "normal", mode: "normal"},
	{name: "code", mode: "code"},
	{name: "busy-ctrl-c", mode: "busy", terminal: true, drive: typeCtrlC},
	{name: "busy-term", mode: "busy", drive: signalCommand(syscall.SIGTERM)},
	{name: "busy-group", mode: "busy", drive: signalGroup(syscall.SIGTERM)},
	{name: "busy-kill", mode: "busy", drive: killProgram},
	{name: "handler-ctrl-c", mode: "handler", terminal: true, drive: typeCtrlC, once: "SIGINT"},
	{name: "handler-term", mode: "handler", drive: signalCommand(syscall.SIGTERM), once: "SIGTERM"},
	{name: "handler-group", mode: "handler", drive: signalGroup(syscall.SIGTERM), once: "SIGTERM"},
	{name: "duration", mode: "busy", drive: signalCommand(syscall.SIGTERM), duration: true},
}

// typeCtrlC types it at the terminal.
func typeCtrlC(p *process) {
	p.ready()
	p.tty.Write([]byte{3})
}

// signalCommand sends a signal to the started process alone: jitinject, or the program itself.
func signalCommand(sig syscall.Signal) func(*process) {
	return func(p *process) {
		p.ready()
		syscall.Kill(p.cmd.Process.Pid, sig)
	}
}

// signalGroup sends a signal to the process group of the started process.
func signalGroup(sig syscall.Signal) func(*process) {
	return func(p *process) {
		p.ready()
		syscall.Kill(-p.cmd.Process.Pid, sig)
	}
}

// killProgram ends the process that runs the hot function, in a way that it cannot handle.
func killProgram(p *process) { syscall.Kill(p.ready(), syscall.SIGKILL) }

// knows reports whether a list of names has an end.
func knows(names, end string) bool { return slices.Contains(strings.Fields(names), end) }
