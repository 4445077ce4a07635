/* Runs a program and writes its cost to the descriptor of the first argument:
 *     wall-nanoseconds cpu-microseconds peak-resident-kilobytes exit-status
 *
 * Usage: measure DESCRIPTOR PROGRAM ARGUMENT...
 *
 * Linux adds the memory of the process that starts a program to that program's peak, so the starter has to be small:
 * this is why it is written neither in Python nor in Swift. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>

extern char **environ;

static long long now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (long long)t.tv_sec * 1000000000LL + t.tv_nsec;
}

int main(int argc, char **argv) {
    if (argc < 3) {
        fprintf(stderr, "usage: measure DESCRIPTOR PROGRAM ARGUMENT...\n");
        return 2;
    }
    int descriptor = atoi(argv[1]);
    fcntl(descriptor, F_SETFD, FD_CLOEXEC);
    pid_t child;
    struct rusage usage;
    int status;
    long long start = now();
    int error = posix_spawnp(&child, argv[2], NULL, NULL, argv + 2, environ);
    if (error != 0) {
        fprintf(stderr, "measure: %s: %s\n", argv[2], strerror(error));
        return 127;
    }
    while (wait4(child, &status, 0, &usage) < 0) {
        if (errno != EINTR) {
            perror("measure: wait4");
            return 1;
        }
    }
    long long wall = now() - start;
    long long cpu = (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000LL
        + usage.ru_utime.tv_usec + usage.ru_stime.tv_usec;
    dprintf(descriptor, "%lld %lld %ld %d\n", wall, cpu, usage.ru_maxrss,
        WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    return 0;
}
