// Package debuginfod is a client of debuginfod servers, which serve files by build id [debuginfod(8),
// WEBAPI]:
//
//	GET URL/buildid/HEX/executable    200 and the file, or 404
//	GET URL/buildid/HEX/debuginfo     likewise, for files without code
//
// It follows the environment variables of elfutils' clients [debuginfod-client-config(7)], and reads
// the cache of those, but does not write there. Servers are asked in their order, one after the
// other. The package bounds what an answer can cost: its size, its time, redirects, and the number of
// objects for which a server may fail. It does not know what the files are: the caller checks them.
//
//	config.go  servers, bounds and headers, from the environment
//	client.go  a file, from one of the servers
//	server.go  a server: what it has answered, and whether it is still asked
//	answer.go  one answer, within its bounds
package debuginfod
