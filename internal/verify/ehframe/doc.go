// Package ehframe reads unwind tables, .eh_frame and .eh_frame_hdr [LSB Core 10.5, 10.6], with
// errors for all violations of their format. Jitdumps hold such tables in unwinding records, objects
// in sections.
package ehframe
