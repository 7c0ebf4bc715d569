// Switches XRay's flight data recorder on before main, and writes its log at exit. Link it
// into any program that is built with -fxray-instrument (jitinject help recorder prints this):
//
//   clang++ -O2 -g -fno-omit-frame-pointer -fxray-instrument -c program.cc
//   clang++ -fxray-instrument program.o recorder.cc -o program -pthread
//
// XRAY_FDR_OPTIONS in the environment is read by the runtime, as
// "buffer_size=16384 buffer_max=100 func_duration_threshold_us=5"; XRAY_OPTIONS has the log's
// place: "xray_logfile_base=/tmp/xray-log.".
#include <cstdio>
#include <cstdlib>
#include <xray/xray_interface.h>
#include <xray/xray_log_interface.h>

static void stop() {
  __xray_log_finalize();
  __xray_log_flushLog();
}

__attribute__((constructor, xray_never_instrument)) static void start() {
  if (__xray_log_select_mode("xray-fdr") != XRAY_REGISTRATION_OK ||
      __xray_log_init_mode("xray-fdr", "") != XRAY_LOG_INITIALIZED || __xray_patch() != XRayPatchingStatus::SUCCESS) {
    fputs("XRay's flight data recorder does not start\n", stderr);
    return;
  }
  atexit(stop);
}
