/// System calls and constants that Glibc's Swift module hides, or types in another way than Darwin's. Declarations and one-line
/// wrappers only: no logic.
#pragma once

#include <sys/socket.h>

// Kinds of sockets: an enumeration in Glibc's Swift module, integers in those of Darwin and musl.
static const int ferry_SOCK_STREAM = SOCK_STREAM;
static const int ferry_SOCK_DGRAM = SOCK_DGRAM;
static const int ferry_SOCK_RAW = SOCK_RAW;
/// Combined with a kind; 0 where sockets cannot be made close-on-exec by the call that creates them.
#ifdef SOCK_CLOEXEC
static const int ferry_SOCK_CLOEXEC = SOCK_CLOEXEC;
#else
static const int ferry_SOCK_CLOEXEC = 0;
#endif

/// Gives the free pages of the allocator back to the system, where it can be asked to.
void ferry_return_free_memory(void);

#if defined(__linux__)

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/xattr.h>
#include <unistd.h>
#ifndef STATX_BTIME
#include <linux/stat.h>
#endif

// Values of the kernel's interface (include/uapi/linux/{fcntl,fs,falloc}.h); they never change.
#ifndef O_TMPFILE
#define O_TMPFILE (020000000 | O_DIRECTORY)
#endif
#ifndef O_PATH
#define O_PATH 010000000
#endif
#ifndef AT_EMPTY_PATH
#define AT_EMPTY_PATH 0x1000
#endif

#ifndef O_NOATIME
#define O_NOATIME 01000000
#endif

static const int ferry_O_TMPFILE = O_TMPFILE;
static const int ferry_O_PATH = O_PATH;
static const int ferry_O_NOATIME = O_NOATIME;
static const int ferry_AT_EMPTY_PATH = AT_EMPTY_PATH;
static const unsigned int ferry_RENAME_NOREPLACE = 1;

/// The arguments of this process, as the C library's start code received them; 0 and NULL where it passes none on.
/// Swift's own list is read from procfs, and is empty where that is not mounted or other code moved the environment.
int ferry_argument_count(void);
char **ferry_arguments(void);

/// renameat2(2), which Glibc declares only with _GNU_SOURCE and musl only since 1.2.6.
static inline int ferry_renameat2(
    int fromDirectory, const char *from, int toDirectory, const char *to, unsigned int flags) {
    return (int)syscall(SYS_renameat2, fromDirectory, from, toDirectory, to, flags);
}

/// tgkill(2), which glibc has since 2.30 and musl has not.
static inline int ferry_tgkill(int process, int thread, int signal) {
    return (int)syscall(SYS_tgkill, process, thread, signal);
}

/// openat2(2) of a directory below another, as a place alone, with RESOLVE_BENEATH and RESOLVE_NO_SYMLINKS; -1 and errno,
/// ENOSYS before Linux 5.6. The number is the same on all machines that Swift runs on.
static inline int ferry_open_beneath(int root, const char *path) {
    struct { uint64_t flags, mode, resolve; } how = {O_PATH | O_DIRECTORY | O_CLOEXEC, 0, 0x08 | 0x04};
    return (int)syscall(437, root, path, &how, sizeof how);
}

/// statx(2) of an open file: when it was made. -1 where that is not known.
static inline int ferry_creation_time(int descriptor, int64_t *seconds, uint32_t *nanoseconds) {
    struct statx status;
    if (syscall(SYS_statx, descriptor, "", AT_EMPTY_PATH, STATX_BTIME, &status) != 0) return -1;
    if (!(status.stx_mask & STATX_BTIME)) return -1;
    *seconds = status.stx_btime.tv_sec;
    *nanoseconds = status.stx_btime.tv_nsec;
    return 0;
}

extern int fallocate(int descriptor, int mode, off_t offset, off_t length);

/// fallocate(2) with mode 0: the file gets the length, its blocks are reserved and read as zeros.
static inline int ferry_fallocate(int descriptor, int64_t length) {
    return fallocate(descriptor, 0, 0, (off_t)length);
}

static inline int ferry_linkat(int fromDirectory, const char *from, int toDirectory, const char *to, int flags) {
    return linkat(fromDirectory, from, toDirectory, to, flags);
}

static inline int ferry_fsetxattr(int descriptor, const char *name, const void *value, size_t size) {
    return fsetxattr(descriptor, name, value, size, 0);
}

static inline ssize_t ferry_fgetxattr(int descriptor, const char *name, void *value, size_t size) {
    return fgetxattr(descriptor, name, value, size);
}

extern int pipe2(int ends[2], int flags);

static inline int ferry_pipe2(int ends[2], int flags) {
    return pipe2(ends, flags);
}

// Under names of their own, for types that have functions called the same.
static inline ssize_t ferry_read(int descriptor, void *buffer, size_t size) {
    return read(descriptor, buffer, size);
}

static inline int ferry_close(int descriptor) {
    return close(descriptor);
}

/// The version of Landlock's interface (landlock(7)); -1 where the kernel has none.
///
/// The numbers of its calls are the same on every architecture that Linux has Swift for; older headers lack them, and the
/// newer members of the structures.
static inline int ferry_landlock_version(void) {
    return (int)syscall(444, NULL, 0, 1 /* LANDLOCK_CREATE_RULESET_VERSION */);
}

/// Makes a ruleset that denies these rights to files, and what these scopes name; a descriptor.
static inline int ferry_landlock_ruleset(uint64_t access, uint64_t scopes) {
    struct { uint64_t access, network, scopes; } attributes = {access, 0, scopes};
    return (int)syscall(444, &attributes, sizeof attributes, 0);
}

/// Adds a rule to a ruleset: these rights for a file, or below a directory.
static inline int ferry_landlock_allow(int ruleset, int file, uint64_t access) {
    struct __attribute__((packed)) { uint64_t access; int32_t file; } rule = {access, file};
    return (int)syscall(445, ruleset, 1 /* LANDLOCK_RULE_PATH_BENEATH */, &rule, 0);
}

/// Puts the calling thread under a ruleset; from then on it gains no privileges either, as Landlock requires.
static inline int ferry_landlock_restrict(int ruleset) {
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
    return (int)syscall(446, ruleset, 0);
}

/// The members of the kernel's `struct tcp_info` (tcp(7)) up to `tcpi_rcv_wnd`, which Linux has since 6.2. An older kernel
/// leaves its last ones as they were.
struct ferry_tcp_info {
    uint8_t state, ca_state, retransmits, probes, backoff, options, scales, flags;
    uint32_t rto, ato, snd_mss, rcv_mss, unacked, sacked, lost, retrans, fackets;
    uint32_t last_data_sent, last_ack_sent, last_data_recv, last_ack_recv;
    uint32_t pmtu, rcv_ssthresh, rtt, rttvar, snd_ssthresh, snd_cwnd, advmss, reordering;
    uint32_t rcv_rtt, rcv_space, total_retrans;
    uint64_t pacing_rate, max_pacing_rate, bytes_acked, bytes_received;
    uint32_t segs_out, segs_in, notsent_bytes, min_rtt, data_segs_in, data_segs_out;
    uint64_t delivery_rate, busy_time, rwnd_limited, sndbuf_limited;
    uint32_t delivered, delivered_ce;
    uint64_t bytes_sent, bytes_retrans;
    uint32_t dsack_dups, reord_seen, rcv_ooopack, snd_wnd, rcv_wnd, rehash;
};

static const int ferry_TCP_INFO = 11;

/// The bytes that wait in a socket to be read; -1 and errno.
int ferry_unread(int socket);

/// memfd_create(2) with MFD_CLOEXEC: a file in memory.
static inline int ferry_memfd(const char *name) { return (int)syscall(SYS_memfd_create, name, 1); }

/// A socket to rtnetlink (netlink(7)) that is bound to these groups (0: none); -1 and errno when it cannot be had.
int ferry_route_socket(uint32_t groups);

/// For posix_spawnattr_setflags: a process group of its own, default signals, an empty mask.
extern const short ferry_SPAWN_FLAGS;

/// As `ferry_SPAWN_FLAGS`, with a session of its own.
extern const short ferry_SPAWN_SESSION_FLAGS;

/// Closes every descriptor from this one on in the child, where the C library can (Glibc since 2.34); `actions` is a
/// posix_spawn_file_actions_t.
int ferry_spawn_closefrom(void *actions, int from);
/// Has the child run in this directory, where the C library can (Glibc since 2.29); 0 or an errno, ENOSYS where it cannot.
int ferry_spawn_chdir(void *actions, const char *directory);

#endif
