// For POSIX_SPAWN_SETSID.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "CFerry.h"

#if defined(__APPLE__)
#include <malloc/malloc.h>
void ferry_return_free_memory(void) { malloc_zone_pressure_relief(NULL, 0); }
#elif defined(__GLIBC__)
#include <malloc.h>
void ferry_return_free_memory(void) { malloc_trim(0); }
#else
void ferry_return_free_memory(void) {}
#endif

#if defined(__linux__)

#include <linux/netlink.h>
#include <spawn.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

const short ferry_SPAWN_FLAGS = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK;
const short ferry_SPAWN_SESSION_FLAGS = POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK;

extern int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int from)
    __attribute__((weak));

int ferry_spawn_closefrom(void *actions, int from) {
    return posix_spawn_file_actions_addclosefrom_np ? posix_spawn_file_actions_addclosefrom_np(actions, from) : 0;
}

extern int posix_spawn_file_actions_addchdir_np(posix_spawn_file_actions_t *actions, const char *directory)
    __attribute__((weak));

int ferry_spawn_chdir(void *actions, const char *directory) {
    return posix_spawn_file_actions_addchdir_np ? posix_spawn_file_actions_addchdir_np(actions, directory) : ENOSYS;
}

static int argument_count;
static char **argument_list;

#if defined(__GLIBC__)
// Glibc alone calls constructors with the arguments of main.
__attribute__((constructor)) static void keep_arguments(int count, char **list) {
    argument_count = count;
    argument_list = list;
}
#endif

int ferry_argument_count(void) { return argument_count; }
char **ferry_arguments(void) { return argument_list; }

int ferry_unread(int socket) {
    int count = 0;
    return ioctl(socket, FIONREAD, &count) == 0 ? count : -1;
}

int ferry_route_socket(uint32_t groups) {
    struct sockaddr_nl address = {.nl_family = AF_NETLINK, .nl_groups = groups};
    int descriptor = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    if (descriptor >= 0 && bind(descriptor, (struct sockaddr *)&address, sizeof address) != 0) {
        close(descriptor);
        return -1;
    }
    return descriptor;
}

#endif

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
// What is done in the language's own libraries the sanitizer does not see. A lock of Swift's Mutex that somebody waits for is
// given on there, so that what is done under it looks like a race: these are the closures of withLock, by the shape in their
// names; what they reach, nothing else can. And whether a buffer has one owner, so that it may be used again, is told by
// reference counts, which are kept there.
const char *__tsan_default_suppressions(void);
const char *__tsan_default_suppressions(void) { return "race:YTXEfU\nrace:22_modifyIfUniquelyOwned\n"; }
#endif
#endif
