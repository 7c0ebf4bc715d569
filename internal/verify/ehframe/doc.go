// Package ehframe checks unwind tables, .eh_frame and .eh_frame_hdr [LSB Core 10.5, 10.6], for all
// violations of their format. Jitdumps hold such tables in unwinding records, objects in sections.
// Package callframe reads them; tests compare it with the readers of delve and readelf.
package ehframe
