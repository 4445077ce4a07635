#pragma once
#include <Darwin.h>
static inline int overlay_open(const char *p, int f, mode_t m) { return open(p, f, m); }
static inline int overlay_openat(int d, const char *p, int f, mode_t m) { return openat(d, p, f, m); }
static inline int overlay_fcntl(int d, int c, int v) { return fcntl(d, c, v); }
static inline int overlay_fcntlp(int d, int c, void *v) { return fcntl(d, c, v); }
static inline int overlay_ioctl(int d, unsigned long c, int v) { return ioctl(d, c, v); }
static inline int overlay_ioctlp(int d, unsigned long c, void *v) { return ioctl(d, c, v); }
static inline int overlay_errno(void) { return errno; }
static inline void overlay_set_errno(int v) { errno = v; }
