// Command pictures makes the pictures of the documentation, from programs that it records:
//
//	go run ./internal/pictures [-jitinject FILE] [-agent FILE] [-out DIR]
//
// It needs perf, node, a JDK and Chromium, and writes these files:
//
//	page.png                 the page of jitinject view
//	inlines-js.svg           perf report with inlined calls of JavaScript
//	inlines-java.svg         perf report with inlined calls of Java
//	annotate.svg             perf annotate with the hot line
//	session.svg              a terminal session of 15 seconds, animated
//
// Pictures show what the programs printed. Long lines are cut, and lines are left out where "..." says
// so. Package clients makes hotspot.png, the window of hotspot.
package main
