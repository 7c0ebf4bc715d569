// Package checkj9 checks the JIT metadata of OpenJ9, in captures and in records of jitdumps, which
// checkdump hands over. What OpenJ9's compiler always writes, and what the VM's own readers rely on,
// has to hold. It does not know what the metadata lies in, except captures.
package checkj9
